"""How long each tensor must be kept, and in which category its bytes count. It knows no tile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.graph.graph import Graph, Role
from simulator.planner.shares import Ints

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
    "stream_buffers",
    "activations",
    "gradients",
    "temporaries",
)
ALWAYS_LIVE = frozenset(CATEGORIES[:8])
CATEGORY_OF_ROLE = {
    Role.INPUT: "stream_buffers",
    Role.LABEL: "stream_buffers",
    Role.OUTPUT: "stream_buffers",
    Role.WEIGHT: "weights",
    Role.OPTIMISER_STATE: "optimiser_state",
    Role.CONSTANT: "constants",
    Role.ACTIVATION: "activations",
    Role.GRADIENT: "gradients",
}


@dataclass(frozen=True)
class Lifetimes:
    """Columns over tensors that own bytes: their number ``root``, live from step ``first`` to ``last`` inclusive."""

    root: Ints
    first: Ints
    last: Ints
    category: tuple[str, ...]


def lifetimes(graph: Graph) -> Lifetimes:
    """From the operator that writes a tensor to the last that reads it or an alias of it.

    Inputs are there from the first step, outputs until the last; weights, state and constants all the time.
    """
    tensors, steps = graph.tensors, len(graph.ops)
    first = np.full(len(tensors), -1, dtype=np.int64)
    last = np.full(len(tensors), -1, dtype=np.int64)
    for index in range(steps):
        for tensor in graph.ops.inputs[index]:
            last[tensors.root(tensor)] = index
        for tensor in graph.ops.outputs[index]:
            root = tensors.root(tensor)
            first[root] = index if first[root] < 0 else first[root]
            last[root] = max(last[root], index)
    roles = tensors.role
    always = (roles == Role.WEIGHT) | (roles == Role.OPTIMISER_STATE) | (roles == Role.CONSTANT)
    given = (roles == Role.INPUT) | (roles == Role.LABEL)
    first[always | given] = 0
    last[always] = steps - 1
    for output in np.flatnonzero(roles == Role.OUTPUT):
        last[tensors.root(int(output))] = steps - 1
    kept = np.flatnonzero((tensors.alias_of < 0) & (last >= 0) & (first >= 0) & (tensors.bytes > 0))
    names = tuple(CATEGORY_OF_ROLE[Role(roles[root])] for root in kept)
    return Lifetimes(kept, first[kept], last[kept], names)
