"""Optimiser state in half precision: half the bytes to keep and to move; the update still works in single precision."""

from __future__ import annotations

from math import prod

from simulator.graph.edit import Columns, put_together, rows_of
from simulator.graph.graph import Graph, Role


def with_half_state(graph: Graph) -> Graph:
    """``graph`` with single-precision optimiser state stored as fp16; scalars such as step counts stay."""
    tensors = Columns(graph.tensors)
    for tensor in range(len(tensors)):
        state = tensors.role[tensors.root(tensor)] == Role.OPTIMISER_STATE
        if state and tensors.dtype[tensor] == "float32" and prod(tensors.shape[tensor]) > 1:
            tensors.dtype[tensor] = "float16"
            tensors.bytes[tensor] //= 2
    return put_together(graph, rows_of(graph), tensors).graph
