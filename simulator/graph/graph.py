"""The flat list of primitives that the machine model costs: columns of operators and tensors, and their check.

Only data. How it is traced is in ``trace.py``; what it costs is for the planner. No JAX here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt


class Kind(IntEnum):
    """What the planner must know to lay an operator over tiles. The attributes of each (Python ints and strings):

    ====================  ==================================================================================
    MATMUL                batch, m, k, n: out[batch, m, n] += lhs[batch, m, k] x rhs[batch, k, n]
    CONV                  batch, groups, in_channels, out_channels (both of one group), field_in, field_out,
                          kernel, stride, dilation, input_dilation (tuples over the spatial dimensions)
                          Both may have relaid: whether each operand lies with its channels in the wrong place
    ELEMENTWISE           function (the costliest), functions (all, in order), depth (their number), elements, arity
    REDUCE                op, inputs (elements read), outputs (elements written), depth (elements per output)
    MOVEMENT              op, bytes (written)
    GATHER, SCATTER       op, rows (number of indices), row_elements, table_rows
    POOL                  op, outputs (elements), window (product), channels
    NORM                  name, rows (independent statistics), columns (elements per statistic)
    SOFTMAX               name, rows, columns
    RANDOM                elements
    SORT                  rows, columns; kept, when only the largest are wanted
    FALLBACK              op, elements: nothing better is known; costed by a fallback and listed in the report
    CELL                  name, rows (batch), columns (hidden): a recurrent layer's step beside its products
    STENCIL               op, mesh (tuple), channels, points, rows, flops, apart, grid, steps, lanes, assembly,
                          pieces
    ====================  ==================================================================================
    """

    MATMUL = 0
    CONV = 1
    ELEMENTWISE = 2
    REDUCE = 3
    MOVEMENT = 4
    GATHER = 5
    SCATTER = 6
    POOL = 7
    NORM = 8
    SOFTMAX = 9
    RANDOM = 10
    SORT = 11
    FALLBACK = 12
    STENCIL = 13
    CELL = 14


class Pass(IntEnum):
    """Which part of a step an operator belongs to."""

    FORWARD = 0
    BACKWARD = 1
    UPDATE = 2
    RECOMPUTE = 3  # forward work done again for the backward pass


class Role(IntEnum):
    """Why a tensor exists. WEIGHT, OPTIMISER_STATE and ACCUMULATOR live for the whole run; OUTPUT leaves the device.

    RECEIVED comes from another IPU of the replica; ACCUMULATOR sums a gradient over micro-batches.
    """

    INPUT = 0
    LABEL = 1
    WEIGHT = 2
    OPTIMISER_STATE = 3
    CONSTANT = 4
    ACTIVATION = 5
    GRADIENT = 6
    OUTPUT = 7
    RECEIVED = 8
    ACCUMULATOR = 9


GIVEN = frozenset({Role.INPUT, Role.LABEL, Role.WEIGHT, Role.OPTIMISER_STATE, Role.CONSTANT, Role.RECEIVED})
GIVEN |= {Role.ACCUMULATOR}

REQUIRED_ATTRIBUTES: dict[Kind, frozenset[str]] = {
    Kind.MATMUL: frozenset({"batch", "m", "k", "n"}),
    Kind.CONV: frozenset(
        {"batch", "groups", "in_channels", "out_channels", "field_in", "field_out", "kernel"}
        | {"stride", "dilation", "input_dilation"}
    ),
    Kind.ELEMENTWISE: frozenset({"function", "functions", "depth", "elements", "arity"}),
    Kind.REDUCE: frozenset({"op", "inputs", "outputs", "depth"}),
    Kind.MOVEMENT: frozenset({"op", "bytes"}),
    Kind.GATHER: frozenset({"op", "rows", "row_elements", "table_rows"}),
    Kind.SCATTER: frozenset({"op", "rows", "row_elements", "table_rows"}),
    Kind.POOL: frozenset({"op", "outputs", "window", "channels"}),
    Kind.NORM: frozenset({"name", "rows", "columns"}),
    Kind.SOFTMAX: frozenset({"name", "rows", "columns"}),
    Kind.CELL: frozenset({"name", "rows", "columns"}),
    Kind.RANDOM: frozenset({"elements"}),
    Kind.SORT: frozenset({"rows", "columns"}),
    Kind.FALLBACK: frozenset({"op", "elements"}),
    Kind.STENCIL: frozenset(
        {"op", "mesh", "channels", "points", "rows", "flops", "apart", "grid", "steps", "lanes", "assembly", "pieces"}
    ),
}


@dataclass(frozen=True)
class Operators:
    """Columns, one row an operator, in an order that respects data flow."""

    kind: npt.NDArray[np.int8]
    pass_: npt.NDArray[np.int8]
    repeats: npt.NDArray[np.int64]  # executions in one step: above 1 inside a loop
    source: tuple[str, ...]  # the node of the user's model, kept through the backward pass; "" for ours
    primitive: tuple[str, ...]
    attributes: tuple[dict[str, Any], ...]
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True)
class Tensors:
    """Columns, one row a tensor. An alias shares the bytes of ``alias_of`` (-1: none); follow it to its root."""

    bytes: npt.NDArray[np.int64]
    role: npt.NDArray[np.int8]
    alias_of: npt.NDArray[np.int64]
    shape: tuple[tuple[int, ...], ...]
    dtype: tuple[str, ...]  # numpy names: float32, float16, int32, bool...
    name: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.bytes)

    def root(self, tensor: int) -> int:
        """The tensor that owns the bytes of ``tensor``."""
        return self.roots[tensor]

    @cached_property
    def roots(self) -> list[int]:
        """The root of each tensor; an alias never points forwards."""
        found: list[int] = []
        for tensor, of in enumerate(self.alias_of.tolist()):
            found.append(found[of] if of >= 0 else tensor)
        return found


@dataclass(frozen=True)
class Graph:
    """One step of one replica: ``batch`` samples of a micro-batch through the model and, in training, back."""

    ops: Operators
    tensors: Tensors
    name: str = ""
    batch: int = 1
    training: bool = False
    # (weight, its gradient as the update reads it) in training, so that replicas know what to sum
    gradients: tuple[tuple[int, int], ...] = field(default=())


class GraphError(ValueError):
    """A graph that breaks its own rules: always a fault of ours."""


def check(graph: Graph) -> None:
    """Raise GraphError unless columns agree, data flows forwards and every attribute the planner needs is there."""
    _check_columns(graph)
    written = np.zeros(len(graph.tensors), dtype=bool)
    roles = graph.tensors.role
    given = np.isin(roles, [int(role) for role in GIVEN])
    for index in range(len(graph.ops)):
        for tensor in graph.ops.inputs[index]:
            if not (given[tensor] or written[tensor] or graph.tensors.alias_of[tensor] >= 0):
                raise GraphError(f"operator {index} reads tensor {tensor} before it is written")
        for tensor in graph.ops.outputs[index]:
            if written[tensor]:
                raise GraphError(f"tensor {tensor} is written twice")
            written[tensor] = True
        missing = REQUIRED_ATTRIBUTES[Kind(graph.ops.kind[index])] - graph.ops.attributes[index].keys()
        if missing:
            raise GraphError(f"operator {index} ({graph.ops.primitive[index]}) lacks {sorted(missing)}")


def alike(one: Graph, other: Graph) -> bool:
    """Whether two graphs do the same on data of the same kind, whatever their nodes and tensors are called."""
    if (len(one.ops), len(one.tensors)) != (len(other.ops), len(other.tensors)):
        return False
    mine, others = one.tensors, other.tensors
    arrays: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = [
        (one.ops.kind, other.ops.kind), (one.ops.pass_, other.ops.pass_), (one.ops.repeats, other.ops.repeats),
        (mine.bytes, others.bytes), (mine.role, others.role), (mine.alias_of, others.alias_of),
    ]  # fmt: skip
    return all(np.array_equal(a, b) for a, b in arrays) and (
        (one.ops.inputs, one.ops.outputs, one.ops.attributes, one.ops.primitive, mine.shape, mine.dtype)
        == (other.ops.inputs, other.ops.outputs, other.ops.attributes, other.ops.primitive, others.shape, others.dtype)
    )


def _check_columns(graph: Graph) -> None:
    ops, tensors = graph.ops, graph.tensors
    for column in (ops.pass_, ops.repeats, ops.source, ops.primitive, ops.attributes, ops.inputs, ops.outputs):
        if len(column) != len(ops.kind):
            raise GraphError("operator columns differ in length")
    for other in (tensors.role, tensors.alias_of, tensors.shape, tensors.dtype, tensors.name):
        if len(other) != len(tensors.bytes):
            raise GraphError("tensor columns differ in length")
    if len(ops) and int(ops.repeats.min()) < 1:
        raise GraphError("an operator repeats less than once")
    if len(tensors) and (tensors.alias_of >= np.arange(len(tensors))).any():
        raise GraphError("an alias points forwards")
    if len(tensors) and int(tensors.bytes.min()) < 0:
        raise GraphError("a tensor has a negative size")
