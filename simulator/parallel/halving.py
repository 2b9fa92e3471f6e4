"""Optimiser state in half precision: half the bytes to keep and to move; the update still works in single precision."""

from __future__ import annotations

from math import prod

from simulator.graph.edit import Columns, put_together, rows_of
from simulator.graph.graph import Graph, Role

FIRST = ".first"  # how the first moment of a weight is called


def with_half_state(graph: Graph, *, first_only: bool) -> Graph:
    """``graph`` with single-precision optimiser state, or its first moment alone, stored as fp16; scalars stay."""
    tensors = Columns(graph.tensors)
    for tensor in range(len(tensors)):
        root = tensors.root(tensor)
        state = tensors.role[root] == Role.OPTIMISER_STATE
        chosen = state and (tensors.name[root].endswith(FIRST) or not first_only)
        if chosen and tensors.dtype[tensor] == "float32" and prod(tensors.shape[tensor]) > 1:
            tensors.dtype[tensor] = "float16"
            tensors.bytes[tensor] //= 2
    return put_together(graph, rows_of(graph), tensors).graph
