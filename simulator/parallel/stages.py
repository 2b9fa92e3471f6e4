"""Which pipeline stage runs each operator: forward by the user's splits, backward and update where they belong.

Where the splits come from when only a number of stages is given is in ``balance``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from simulator.errors import SimulatorError
from simulator.graph.graph import Graph, Kind, Pass, Role
from simulator.learning.step import LOSS_SCOPE, UPDATE_SCOPE

EVERYWHERE = -1
NAMES_SHOWN = 8


@dataclass(frozen=True)
class Staging:
    """``of``: the stage of each operator, shape [operators]; EVERYWHERE for what every update needs (step counts).

    ``home``: the stage of each weight by its root tensor. ``splits``: the nodes at which stages begin.
    """

    count: int
    of: tuple[int, ...]
    home: dict[int, int]
    splits: tuple[str, ...]


def forward_sources(graph: Graph) -> dict[str, int]:
    """Nodes of the model in the order they run forwards, each with its first operator."""
    found: dict[str, int] = {}
    for index, (source, pass_) in enumerate(zip(graph.ops.source, graph.ops.pass_.tolist(), strict=True)):
        if pass_ == Pass.FORWARD and source and source != LOSS_SCOPE:
            found.setdefault(source, index)
    return found


def matches(source: str, name: str) -> bool:
    """Whether a node is meant by ``name``: the node itself, or a prefix of it."""
    return source.startswith(name)


def staged(graph: Graph, splits: Sequence[str]) -> Staging:
    """Stages that begin at ``splits``, in the order of the model. Raises ``parallel.split_unknown`` or ``.illegal``."""
    sources = forward_sources(graph)
    begins = _beginnings(list(sources), splits)
    of_source = {}
    stage = 0
    for number, source in enumerate(sources):
        while stage < len(begins) and number >= begins[stage]:
            stage += 1
        of_source[source] = stage
    return _placed(graph, of_source, len(splits) + 1, tuple(splits))


def _beginnings(sources: list[str], splits: Sequence[str]) -> list[int]:
    begins: list[int] = []
    for name in splits:
        exact = [i for i, source in enumerate(sources) if source == name]
        found = exact or [i for i, source in enumerate(sources) if matches(source, name)]
        if not found:
            raise unknown_node("splits", name, sources)
        if found[0] <= (begins[-1] if begins else 0):
            raise SimulatorError(
                "parallel.illegal",
                f"Split '{name:.100}' does not come after the one before it, or begins the model. Give the first node "
                "of every stage but the first, in the order in which the model runs them.",
                params={
                    "field": "splits",
                    "value": name[:100],
                    "legal": sources[begins[-1] + 1 if begins else 1 :][:16],
                },
            )
        begins.append(found[0])
    return begins


def unknown_node(field: str, name: str, sources: list[str]) -> SimulatorError:
    """The refusal of a node's name that the model does not have, with those that come close."""
    close = get_close_matches(name, sources, NAMES_SHOWN) or sources[:: max(1, len(sources) // NAMES_SHOWN)]
    return SimulatorError(
        "parallel.node_unknown",
        f"No node of the model is called or begins with '{name:.100}'. Close to it: {', '.join(close[:NAMES_SHOWN])}.",
        params={"field": field, "value": name[:100], "legal": close[:NAMES_SHOWN]},
    )


def _placed(graph: Graph, of_source: dict[str, int], count: int, splits: tuple[str, ...]) -> Staging:
    ops = graph.ops
    if count == 1:
        shared = [EVERYWHERE if _is_shared(ops.source[i], int(ops.pass_[i])) else 0 for i in range(len(ops))]
        return Staging(1, tuple(shared), dict.fromkeys(_weights(graph), 0), splits)
    stages: list[int | None] = [None] * len(ops)
    for index, (source, pass_) in enumerate(zip(ops.source, ops.pass_.tolist(), strict=True)):
        if pass_ != Pass.UPDATE:
            stages[index] = count - 1 if source == LOSS_SCOPE else of_source.get(source)
    _follow_data(graph, stages)
    home = _homes(graph, stages)
    of_weight = {graph.tensors.name[root]: stage for root, stage in home.items()}
    for index in np.flatnonzero(ops.pass_ == Pass.UPDATE).tolist():
        shared_op = _is_shared(ops.source[index], int(Pass.UPDATE))
        stages[index] = EVERYWHERE if shared_op else of_weight.get(ops.source[index], count - 1)
    return Staging(count, tuple(0 if stage is None else stage for stage in stages), home, splits)


def _is_shared(source: str, pass_: int) -> bool:
    return pass_ == Pass.UPDATE and source == UPDATE_SCOPE


def _follow_data(graph: Graph, stages: list[int | None]) -> None:
    """Operators of no node run where their data is: forward work with the latest input, backward with the earliest.

    The slope of a view (a slice has no operator forwards) waits for its reader where it is larger than what it is made
    of: as the view is taken before data crosses, its slope is filled up after it came back.
    """
    writer: dict[int, int] = {}
    for index in range(len(graph.ops)):
        if stages[index] is None and graph.ops.pass_[index] != Pass.UPDATE and not _fills_up(graph, index):
            roots = (graph.tensors.root(t) for t in graph.ops.inputs[index])
            near = [s for s in (stages[writer[r]] for r in roots if r in writer) if s is not None]
            if near:
                stages[index] = max(near) if graph.ops.pass_[index] == Pass.FORWARD else min(near)
        for tensor in graph.ops.outputs[index]:
            writer.setdefault(graph.tensors.root(tensor), index)
    reader: dict[int, int] = {}
    for index in reversed(range(len(graph.ops))):
        if stages[index] is None and graph.ops.pass_[index] != Pass.UPDATE:
            after = [reader[r] for r in map(graph.tensors.root, graph.ops.outputs[index]) if r in reader]
            stages[index] = min(after, default=0)
        for tensor in graph.ops.inputs[index]:
            stage = stages[index]
            if stage is not None:
                reader[graph.tensors.root(tensor)] = stage


def _fills_up(graph: Graph, index: int) -> bool:
    """Whether this is the slope of a view of the model, larger than what it is made of."""
    ops, sizes = graph.ops, graph.tensors.bytes
    if ops.pass_[index] != Pass.BACKWARD or not ops.source[index] or ops.kind[index] != Kind.MOVEMENT:
        return False
    return sum(int(sizes[t]) for t in ops.outputs[index]) > sum(int(sizes[t]) for t in ops.inputs[index])


def _weights(graph: Graph) -> list[int]:
    tensors = graph.tensors
    owned = (tensors.role == Role.WEIGHT) & (tensors.alias_of < 0)
    return [int(root) for root in np.flatnonzero(owned)]


def _homes(graph: Graph, stages: list[int | None]) -> dict[int, int]:
    """Each weight lives with the first operator that reads it."""
    home: dict[int, int] = {}
    weights = set(_weights(graph))
    for index, inputs in enumerate(graph.ops.inputs):
        stage = stages[index]
        if stage is None:
            continue
        for root in map(graph.tensors.root, inputs):
            if root in weights:
                home.setdefault(root, stage)
    return home
