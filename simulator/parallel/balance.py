"""Chooses where pipeline stages begin when only their number is given: the slowest stage as fast as can be.

It is given what each operator costs and knows nothing of tiles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from simulator.graph.graph import Graph, Pass
from simulator.parallel.replicas import illegal
from simulator.parallel.stages import forward_sources


def balanced_splits(graph: Graph, stages: int, cycles: Sequence[int] | npt.NDArray[np.int64]) -> tuple[str, ...]:
    """The nodes that begin every stage but the first. ``cycles``: of each operator, forwards and backwards alike.

    Raises ``parallel.illegal`` when the model has fewer nodes than stages.
    """
    sources = list(forward_sources(graph))
    if len(sources) < stages:
        raise illegal("stages", stages, f"are more than the {len(sources)} nodes of the model", [len(sources)])
    place = {source: number for number, source in enumerate(sources)}
    cost = np.zeros(len(sources))
    for source, pass_, amount in zip(graph.ops.source, graph.ops.pass_.tolist(), cycles, strict=True):
        if pass_ != Pass.UPDATE and source in place:
            cost[place[source]] += int(amount)
    edges = _edges(np.concatenate([[0.0], np.cumsum(cost)]), stages)
    return tuple(sources[edge] for edge in edges)


def _edges(total: npt.NDArray[np.float64], stages: int) -> list[int]:
    """First nodes of stages so that the largest stage is least: bisection on what a stage may take."""
    low, high = total[-1] / stages, float(total[-1])
    for _ in range(50):
        middle = (low + high) / 2
        if _cut(total, stages, middle) is None:
            low = middle
        else:
            high = middle
    edges = _cut(total, stages, high)
    assert edges is not None  # all of it in one stage is always possible
    return edges


def _cut(total: npt.NDArray[np.float64], stages: int, most: float) -> list[int] | None:
    """Greedy stages of at most ``most`` each, leaving a node for every stage to come; None when they do not do."""
    nodes, start = len(total) - 1, 0
    edges = []
    for later in range(stages - 1, 0, -1):
        end = int(np.searchsorted(total, total[start] + most * (1 + 1e-12), side="right")) - 1
        end = min(max(end, start + 1), nodes - later)
        if total[end] - total[start] > most * (1 + 1e-9):
            return None
        edges.append(end)
        start = end
    return edges if total[-1] - total[start] <= most * (1 + 1e-9) else None
