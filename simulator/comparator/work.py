"""Operations and bytes of each operator of a graph, as a processor with one large memory sees them."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from simulator.graph.graph import Graph, Kind, Pass

MATRIX = frozenset({Kind.MATMUL, Kind.CONV})
INDEX_BYTES = 8  # PyTorch's indices are 64-bit integers


@dataclass(frozen=True)
class Work:
    """Columns, one row an operator, all executions of it together.

    ``half``: works in 16 bits or fewer. ``convolution``: a product that cuDNN computes, in TF32 where it is in single
    precision. ``calls``: kernels launched (a table is cleared by one of its own).
    """

    flops: npt.NDArray[np.float64]
    bytes: npt.NDArray[np.float64]
    matrix: npt.NDArray[np.bool_]
    half: npt.NDArray[np.bool_]
    convolution: npt.NDArray[np.bool_]
    update: npt.NDArray[np.bool_]
    calls: npt.NDArray[np.int64]


def work_of(graph: Graph, left_out: Set[str] = frozenset()) -> Work:
    """What every operator of ``graph`` computes and moves, but for those of the nodes in ``left_out``."""
    chosen = [index for index in range(len(graph.ops)) if graph.ops.source[index] not in left_out]
    repeats = np.asarray(graph.ops.repeats, dtype=np.int64)[chosen]
    return Work(
        flops=np.array([_flops(graph, index) for index in chosen]) * repeats,
        bytes=np.array([_bytes(graph, index) for index in chosen]) * repeats,
        matrix=np.isin(np.asarray(graph.ops.kind)[chosen], list(MATRIX)),
        half=np.array([_itemsize(graph, index) <= 2 for index in chosen], dtype=bool),
        convolution=np.asarray(graph.ops.kind)[chosen] == Kind.CONV,
        update=np.asarray(graph.ops.pass_)[chosen] == Pass.UPDATE,
        calls=repeats * np.where(np.asarray(graph.ops.kind)[chosen] == Kind.SCATTER, 2, 1),
    )


def _flops(graph: Graph, index: int) -> float:
    a = graph.ops.attributes[index]
    kind = Kind(graph.ops.kind[index])
    if kind == Kind.MATMUL:
        return 2.0 * a["batch"] * a["m"] * a["k"] * a["n"]
    if kind == Kind.CONV:
        field = (
            min(prod(a["field_in"]), prod(a["field_out"])) if prod(a["input_dilation"]) > 1 else prod(a["field_out"])
        )
        channels = a["groups"] * a["in_channels"] * a["out_channels"]
        return 2.0 * a["batch"] * channels * field * prod(a["kernel"])
    if kind == Kind.REDUCE:
        return float(a["inputs"])
    written = sum(_elements(graph, t) for t in graph.ops.outputs[index])
    return float(written * (a["depth"] if kind == Kind.ELEMENTWISE else 1))


def _elements(graph: Graph, tensor: int) -> int:
    return max(1, prod(graph.tensors.shape[tensor]))


def _bytes(graph: Graph, index: int) -> float:
    """Each operand read once, each result written once. Where rows are chosen, only those rows move.

    A GPU's gather reads an index of its own for every element. Sums into a table first clear all of it; then the rows
    that are added to are read and written once, however many are added to each.
    """
    a, kind = graph.ops.attributes[index], Kind(graph.ops.kind[index])
    outputs = sum(_size(graph, t) for t in graph.ops.outputs[index])
    if kind in (Kind.GATHER, Kind.SCATTER):
        moved = a["rows"] * a["row_elements"] * _itemsize(graph, index)
        if kind == Kind.SCATTER:
            return float(moved + a["rows"] * INDEX_BYTES + outputs + 2 * min(moved, outputs))
        return float(moved + a["rows"] * a["row_elements"] * INDEX_BYTES + outputs)
    return float(outputs + sum(_size(graph, t) for t in set(graph.ops.inputs[index])))


def _size(graph: Graph, tensor: int) -> int:
    root = graph.tensors.root(tensor)
    item = np.dtype(graph.tensors.dtype[tensor]).itemsize
    return min(int(graph.tensors.bytes[root]) or item, _elements(graph, tensor) * item)


def _itemsize(graph: Graph, index: int) -> int:
    floating = [graph.tensors.dtype[t] for t in (*graph.ops.inputs[index], *graph.ops.outputs[index])]
    return min((np.dtype(name).itemsize for name in floating if "float" in name), default=4)
