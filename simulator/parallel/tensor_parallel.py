"""Products shared by several IPUs of a stage: what one of them does, and where their results must be joined.

As Megatron does it: a weight is cut by columns when its input is whole, by rows when its input is cut; between the two
everything is a share, after the second an all-reduce makes it whole again. Heads of attention fall apart by themselves.
Bytes to join are noted with the operator, ``attributes["joined"]``; their time is in ``schedule``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from simulator.graph.edit import UPDATE, Columns, Row, put_together, rows_of
from simulator.graph.graph import Graph, Kind, Pass, Role
from simulator.units import ceil_div

COUNTS = ("elements", "inputs", "outputs", "bytes", "rows", "channels")


def shared_products(graph: Graph, width: int) -> Graph:
    """What one of ``width`` IPUs runs of ``graph``."""
    return graph if width == 1 else _Shares(graph, width).run()


class _Shares:
    def __init__(self, graph: Graph, width: int) -> None:
        self.graph, self.width = graph, width
        self.tensors = Columns(graph.tensors)
        self.roots = [graph.tensors.root(t) for t in range(len(graph.tensors))]
        self.rows = rows_of(graph)
        self.cut: set[int] = self._cut_weights()  # roots of which an IPU has a share
        self.tables = {graph.tensors.shape[root] for root in self.cut}

    def run(self) -> Graph:
        out = [self._row(row) for row in self.rows if row.pass_ != UPDATE]
        names = self._updated()
        out += [self._update(row, names.get(row.source)) for row in self.rows if row.pass_ == UPDATE]
        for tensor, root in enumerate(self.roots):
            if root in self.cut:
                self.tensors.bytes[tensor] = ceil_div(self.tensors.bytes[tensor], self.width)
                self.tensors.shape[tensor] = _narrowed(self.tensors.shape[tensor], self.width)
        return put_together(self.graph, out, self.tensors).graph

    def _cut_weights(self) -> set[int]:
        found = set()
        for row in self.rows:
            if row.kind in (Kind.MATMUL, Kind.CONV) and row.pass_ == Pass.FORWARD:
                roots = [self.roots[t] for t in row.inputs[:2]]
                found |= {root for root in roots if self.tensors.role[root] == Role.WEIGHT}
        return found

    def _row(self, row: Row) -> Row:
        rule = RULES.get(Kind(row.kind), _each_element)
        row, shared = rule(self, row)
        if shared:
            self.cut |= {self.roots[t] for t in row.outputs if self._large(t)}
        return row

    def _large(self, tensor: int) -> bool:
        return prod(self.tensors.shape[tensor]) >= self.width and self.tensors.role[self.roots[tensor]] != Role.INPUT

    def is_cut(self, tensor: int) -> bool:
        return self.roots[tensor] in self.cut

    def is_weight(self, tensor: int) -> bool:
        return self.is_cut(tensor) and self.tensors.role[self.roots[tensor]] == Role.WEIGHT

    def joined(self, row: Row, **changes: int) -> Row:
        """``row`` with ``changes`` of its attributes, and its results summed over the IPUs."""
        amount = sum(self.tensors.bytes[t] for t in row.outputs[:1])
        return replace(row, attributes={**row.attributes, **changes, "joined": amount})

    def part(self, row: Row, *names: str) -> Row:
        """``row`` with a share of each of the attributes ``names`` that it has."""
        shares = {name: ceil_div(row.attributes[name], self.width) for name in names if name in row.attributes}
        return replace(row, attributes={**row.attributes, **shares})

    def _updated(self) -> dict[str, int]:
        """Elements of each weight of which a share is updated: those that are cut, and those whose gradient is."""
        found = {}
        for weight, gradient in self.graph.gradients:
            if self.is_cut(weight) or self.is_cut(gradient):
                self.cut |= {self.roots[weight], self.roots[gradient]}
                found[self.graph.tensors.name[weight]] = prod(self.graph.tensors.shape[weight])
        return found

    def _update(self, row: Row, size: int | None) -> Row:
        if size is None:
            return row
        for tensor in (*row.inputs, *row.outputs):
            if prod(self.tensors.shape[tensor]) == size:
                self.cut.add(self.roots[tensor])
        names = [name for name in (*COUNTS, "depth") if row.attributes.get(name) == size]
        return self.part(row, *names)


def _narrowed(shape: tuple[int, ...], width: int) -> tuple[int, ...]:
    """A shape of a ``width``-th of the elements: the last dimension that divides, else the largest."""
    if prod(shape) < width:
        return shape
    fitting = [axis for axis, size in enumerate(shape) if size % width == 0]
    axis = fitting[-1] if fitting else max(range(len(shape)), key=lambda i: shape[i])
    return tuple(ceil_div(size, width) if i == axis else size for i, size in enumerate(shape))


def _product(shares: _Shares, row: Row) -> tuple[Row, bool]:
    first, second = row.inputs[0], row.inputs[-1] if len(row.inputs) == 1 else row.inputs[1]
    cut = (shares.is_cut(first), shares.is_cut(second))
    if shares.is_weight(first) or shares.is_weight(second):
        weight_first = shares.is_weight(first)
        if cut[1] if weight_first else cut[0]:
            return shares.joined(row, k=ceil_div(row.attributes["k"], shares.width)), False
        return shares.part(row, "m" if weight_first else "n"), True
    if not any(cut):
        return row, False
    if row.attributes["batch"] % shares.width == 0:
        return shares.part(row, "batch"), True
    if all(cut):
        return shares.joined(row, k=ceil_div(row.attributes["k"], shares.width)), False
    return shares.part(row, "m" if cut[0] else "n"), True


def _convolution(shares: _Shares, row: Row) -> tuple[Row, bool]:
    first, second = row.inputs[0], row.inputs[-1] if len(row.inputs) == 1 else row.inputs[1]
    other = second if shares.is_weight(first) else first
    cut = shares.is_cut(other)
    if row.attributes["groups"] > 1 and (cut or shares.is_cut(second)):
        return shares.part(row, "groups"), True
    weighted = shares.is_weight(first) or shares.is_weight(second)
    if cut and weighted:
        return shares.joined(row, in_channels=ceil_div(row.attributes["in_channels"], shares.width)), False
    if weighted or shares.is_cut(second):
        return shares.part(row, "out_channels"), True
    return (shares.part(row, "in_channels"), True) if cut else (row, False)


def _gather(shares: _Shares, row: Row) -> tuple[Row, bool]:
    if shares.is_weight(row.inputs[0]):
        return shares.joined(row, table_rows=ceil_div(row.attributes["table_rows"], shares.width)), False
    return (shares.part(row, "row_elements"), True) if shares.is_cut(row.inputs[0]) else (row, False)


def _scatter(shares: _Shares, row: Row) -> tuple[Row, bool]:
    if shares.tensors.shape[row.outputs[0]] in shares.tables:
        return shares.part(row, "table_rows"), True
    return (shares.part(row, "row_elements"), True) if any(map(shares.is_cut, row.inputs)) else (row, False)


def _norm(shares: _Shares, row: Row) -> tuple[Row, bool]:
    """Statistics of channels fall apart like the channels; those over channels need them all."""
    if not shares.is_cut(row.inputs[0]):
        return row, False
    if row.attributes["name"].startswith(("batch_norm", "group_norm")):
        return shares.part(row, "rows"), True
    return shares.joined(row), False


def _reduce(shares: _Shares, row: Row) -> tuple[Row, bool]:
    if not shares.is_cut(row.inputs[0]):
        return row, False
    if row.attributes["outputs"] >= shares.width:
        return shares.part(row, "inputs", "outputs"), True
    return shares.joined(shares.part(row, "inputs", "depth")), False


def _each_element(shares: _Shares, row: Row) -> tuple[Row, bool]:
    """A share where an operand of full size is one."""
    sizes = {t: prod(shares.tensors.shape[t]) for t in row.inputs}
    largest = max(sizes.values(), default=0)
    if not any(shares.is_cut(t) and sizes[t] == largest for t in row.inputs):
        return row, False
    return shares.part(row, *COUNTS), True


# the operator of one IPU, and whether its results are shares
RULES: dict[Kind, Callable[[_Shares, Row], tuple[Row, bool]]] = {
    Kind.MATMUL: _product,
    Kind.CONV: _convolution,
    Kind.GATHER: _gather,
    Kind.SCATTER: _scatter,
    Kind.NORM: _norm,
    Kind.REDUCE: _reduce,
}
