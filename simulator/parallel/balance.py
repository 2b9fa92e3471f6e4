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

QUANTILES = (0.02, 0.05, 0.1, 0.2, 0.4, 1.0)  # of the bytes that cross: only nodes with less may begin a stage


def balanced_splits(
    graph: Graph, stages: int, cycles: Sequence[int] | npt.NDArray[np.int64], cycles_of_byte: float
) -> tuple[str, ...]:
    """The nodes that begin every stage but the first. ``cycles``: of each operator, forwards and backwards alike.

    ``cycles_of_byte`` is what sending on one byte takes: a cut in the middle of a layer may be more even, and slower.
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
    total, crossing = np.concatenate([[0.0], np.cumsum(cost)]), _crossing(graph, place) * cycles_of_byte
    best: tuple[float, list[int]] | None = None
    for most in np.unique(np.quantile(crossing[1:], QUANTILES, method="lower")):
        nodes = np.flatnonzero(crossing <= most)
        nodes = nodes[nodes > 0]
        if len(nodes) < stages - 1:
            continue
        edges = [int(nodes[edge - 1]) for edge in _edges(total[np.concatenate([[0], nodes, [len(sources)]])], stages)]
        slowest = float(np.diff(total[[0, *edges, len(sources)]]).max()) + 2 * float(crossing[edges].max())
        if best is None or slowest < best[0]:
            best = (slowest, edges)
    assert best is not None  # the last quantile takes every node
    return tuple(sources[edge] for edge in best[1])


def _crossing(graph: Graph, place: dict[str, int]) -> npt.NDArray[np.float64]:
    """Bytes that forward work before each node hands to forward work at or after it. Shape [nodes]."""
    ops, tensors = graph.ops, graph.tensors
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    for index in np.flatnonzero(ops.pass_ == Pass.FORWARD).tolist():
        at = place.get(ops.source[index])
        if at is None:
            continue
        for root in map(tensors.root, ops.inputs[index]):
            if root in made:
                last[root] = max(last.get(root, 0), at)
        for root in map(tensors.root, ops.outputs[index]):
            made.setdefault(root, at)
    change = np.zeros(len(place) + 1)
    for root, end in last.items():
        if end > made[root]:
            change[made[root] + 1] += tensors.bytes[root]
            change[end + 1] -= tensors.bytes[root]
    return np.cumsum(change)[:-1]


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
