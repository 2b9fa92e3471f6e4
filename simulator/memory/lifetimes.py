"""How long each tensor must be kept, and in which category its bytes count. It knows no tile."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simulator.graph.graph import Graph, Kind, Pass, Role
from simulator.planner.shares import Ints

Bools = npt.NDArray[np.bool_]

# the order in which memory is drawn and listed, those that live for the whole run first
CATEGORIES = (
    "vertex_code",
    "exchange_code",
    "control_code",
    "vertex_state",
    "stacks",
    "constants",
    "weights",
    "optimiser_state",
    "accumulators",
    "stash",
    "stream_buffers",
    "activations",
    "gradients",
    "temporaries",
)
ALWAYS_LIVE = frozenset(CATEGORIES[:10])
CATEGORY_OF_ROLE = {
    Role.INPUT: "stream_buffers",
    Role.LABEL: "stream_buffers",
    Role.OUTPUT: "stream_buffers",
    Role.WEIGHT: "weights",
    Role.OPTIMISER_STATE: "optimiser_state",
    Role.CONSTANT: "constants",
    Role.ACTIVATION: "activations",
    Role.GRADIENT: "gradients",
    Role.RECEIVED: "activations",
    Role.ACCUMULATOR: "accumulators",
}


OVERWRITTEN = frozenset({int(Role.ACTIVATION), int(Role.GRADIENT)})
LASTING = (Role.WEIGHT, Role.OPTIMISER_STATE, Role.CONSTANT, Role.ACCUMULATOR)


@dataclass(frozen=True)
class Held:
    """What a pipeline keeps beyond the graph's own order: ``stash`` root -> further copies, kept all the time;
    ``leaving`` roots stay until the copy at the end of a cycle. ``offloaded``: optimiser state comes for the update.
    ``passing``: bytes on their way between other IPUs, kept all the time. ``summing``: bytes that sums over replicas
    need before the update. ``width``: IPUs of a stage, which sum what they share.
    """

    stash: Mapping[int, int] = field(default_factory=dict)
    leaving: frozenset[int] = frozenset()
    offloaded: bool = False
    passing: int = 0
    summing: int = 0
    width: int = 1


@dataclass(frozen=True)
class Lifetimes:
    """Columns over what takes memory: tensor ``root``, ``copies`` of it, live from ``first`` to ``last`` inclusive.

    ``always``: for the whole run, whatever the steps say.
    """

    root: Ints
    copies: Ints
    first: Ints
    last: Ints
    always: Bools
    category: tuple[str, ...]


NOTHING_HELD = Held()


def lifetimes(graph: Graph, held: Held = NOTHING_HELD, places: Mapping[int, Hashable] | None = None) -> Lifetimes:
    """From the operator that writes a tensor to the last that reads it or an alias of it.

    Inputs and what was received are there from the first step, outputs until the last; weights, constants,
    accumulators and state that is not offloaded all the time. ``places``: where each root lies; with them an
    element-wise operator writes over what it is the last to read, as frameworks have it do.
    """
    tensors, steps = graph.tensors, len(graph.ops)
    first, last = _spans(graph)
    roles = tensors.role
    lasting = [role for role in LASTING if not (held.offloaded and role == Role.OPTIMISER_STATE)]
    always = np.isin(roles, [int(role) for role in lasting])
    first[always | np.isin(roles, [int(Role.INPUT), int(Role.LABEL), int(Role.RECEIVED)])] = 0
    late = {int(Role.RECEIVED), int(Role.OPTIMISER_STATE)} if held.offloaded else {int(Role.RECEIVED)}
    _arriving_for_the_update(graph, first, late)
    last[always] = steps - 1
    for output in np.flatnonzero(roles == Role.OUTPUT):
        last[tensors.root(int(output))] = steps - 1
    end = int(np.count_nonzero(graph.ops.pass_ != Pass.UPDATE)) - 1
    for root in held.leaving:
        last[root] = max(int(last[root]), end)
    if places is not None:
        _written_over(graph, held, places, first, last)
    kept = np.flatnonzero((tensors.alias_of < 0) & (last >= 0) & (first >= 0) & (tensors.bytes > 0))
    names = [CATEGORY_OF_ROLE[Role(roles[root])] for root in kept]
    more = sorted(root for root in held.stash if tensors.bytes[root] > 0)
    ones, whole = np.ones(len(kept), dtype=np.int64), np.ones(len(more), dtype=bool)
    return Lifetimes(
        root=np.concatenate([kept, np.array(more, dtype=np.int64)]),
        copies=np.concatenate([ones, np.array([held.stash[root] for root in more], dtype=np.int64)]),
        first=np.concatenate([first[kept], np.zeros(len(more), dtype=np.int64)]),
        last=np.concatenate([last[kept], np.full(len(more), steps - 1, dtype=np.int64)]),
        always=np.concatenate([always[kept], whole]),
        category=(*names, *["stash"] * len(more)),
    )


def _spans(graph: Graph) -> tuple[Ints, Ints]:
    """First and last operator that touches the bytes of each root; -1 where none does."""
    tensors = graph.tensors
    first = np.full(len(tensors), -1, dtype=np.int64)
    last = np.full(len(tensors), -1, dtype=np.int64)
    for index in range(len(graph.ops)):
        for tensor in graph.ops.inputs[index]:
            last[tensors.root(tensor)] = index
        for tensor in graph.ops.outputs[index]:
            root = tensors.root(tensor)
            first[root] = index if first[root] < 0 else first[root]
            last[root] = max(last[root], index)
    return first, last


def _written_over(graph: Graph, held: Held, places: Mapping[int, Hashable], first: Ints, last: Ints) -> None:
    """What an element-wise operator is the last to read ends before it, once for each result of as many bytes there.

    What is copied elsewhere, or comes from elsewhere, is left alone.
    """
    tensors = graph.tensors
    for index in np.flatnonzero(graph.ops.kind == Kind.ELEMENTWISE).tolist():
        free = [
            root
            for root in dict.fromkeys(map(tensors.root, graph.ops.inputs[index]))
            if last[root] == index > first[root] and tensors.role[root] in OVERWRITTEN and root not in held.stash
        ]
        for tensor in graph.ops.outputs[index]:
            if not free or tensors.alias_of[tensor] >= 0 or first[tensor] != index:
                continue
            fits = (
                r for r in free if tensors.bytes[r] == tensors.bytes[tensor] and places.get(r) == places.get(tensor)
            )
            over = next(fits, None)
            if over is not None:
                last[over] = index - 1
                free.remove(over)


def _arriving_for_the_update(graph: Graph, first: Ints, late: set[int]) -> None:
    """Offloaded state, and gradients from other IPUs, come before the first operator that reads them."""
    tensors = graph.tensors
    seen: set[int] = set()
    for index, inputs in enumerate(graph.ops.inputs):
        for root in map(tensors.root, inputs):
            if int(tensors.role[root]) in late and root not in seen:
                seen.add(root)
                if graph.ops.pass_[index] == Pass.UPDATE:
                    first[root] = index
