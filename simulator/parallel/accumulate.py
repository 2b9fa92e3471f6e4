"""Gradient accumulation: each gradient is added to an accumulator every micro-batch, and the update reads that."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from math import prod

from simulator.graph.edit import ELEMENTWISE, UPDATE, Columns, Put, Row, elementwise, put_together, rows_of
from simulator.graph.graph import Graph, Pass, Role


def accumulated(graph: Graph, stages: tuple[int, ...]) -> Put:
    """``graph`` with an accumulator a gradient; ``gradients`` pairs weights with accumulators from then on."""
    rows, tensors = rows_of(graph, stages), Columns(graph.tensors)
    last = _last_writers(rows, tensors, {tensors.root(gradient) for _, gradient in graph.gradients})
    sums = _accumulators(graph, tensors, last)
    due: dict[int, list[int]] = {}
    for gradient in sums:
        due.setdefault(last[tensors.root(gradient)], []).append(gradient)
    out: list[Row] = []
    for index, row in enumerate(rows):
        out.append(_reading_sums(row, sums, tensors))
        out += [_addition(g, sums[g], row, tensors) for g in due.get(index, ())]
    pairs = tuple((weight, sums.get(gradient, gradient)) for weight, gradient in graph.gradients)
    return put_together(replace(graph, gradients=pairs), out, tensors, always=sums.values())


def _accumulators(graph: Graph, tensors: Columns, written: Container[int]) -> dict[int, int]:
    """An accumulator for each gradient; one of a weight that the loss does not reach is a constant and needs none."""
    found: dict[int, int] = {}
    for weight, gradient in graph.gradients:
        if gradient not in found and tensors.root(gradient) in written:
            found[gradient] = tensors.like(gradient, Role.ACCUMULATOR, name=graph.tensors.name[weight])
            # a view may be smaller than what it views
            itemsize = max(1, tensors.bytes[gradient] // max(1, prod(tensors.shape[gradient])))
            tensors.bytes[found[gradient]] = prod(tensors.shape[gradient]) * itemsize
    return found


def _last_writers(rows: list[Row], tensors: Columns, roots: set[int]) -> dict[int, int]:
    return {
        tensors.root(t): index
        for index, row in enumerate(rows)
        if row.pass_ != UPDATE
        for t in row.outputs
        if tensors.root(t) in roots
    }


def _addition(gradient: int, total: int, after: Row, tensors: Columns) -> Row:
    elements = max(1, prod(tensors.shape[gradient]))
    output = tensors.like(total, Role.ACCUMULATOR, alias_of=total)
    attributes = elementwise("add", elements, 2)
    inputs, outputs = (total, gradient), (output,)
    return Row(ELEMENTWISE, int(Pass.BACKWARD), 1, after.source, "accumulate", attributes, inputs, outputs, after.stage)


def _reading_sums(row: Row, sums: dict[int, int], tensors: Columns) -> Row:
    if row.pass_ != UPDATE:
        return row
    return replace(row, inputs=tuple(_summed(t, sums, tensors) for t in row.inputs))


def _summed(tensor: int, sums: dict[int, int], tensors: Columns) -> int:
    """The accumulator, or a view of it, in place of a gradient or a view of that."""
    at = tensor
    while at >= 0 and at not in sums:
        at = tensors.alias_of[at]
    if at < 0:
        return tensor
    return sums[at] if at == tensor else tensors.like(tensor, Role.ACCUMULATOR, alias_of=sums[at])
