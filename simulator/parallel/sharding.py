"""Replicated tensor sharding: each replica keeps and updates its share of the optimiser state of every large weight.

Gradients are then scattered and weights gathered, which is what an all-reduce does anyway. Small weights stay whole.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from simulator.graph.edit import UPDATE, Columns, Put, Row, put_together, rows_of
from simulator.graph.graph import Graph, Role
from simulator.units import ceil_div

STAYS_WHOLE = frozenset({int(Role.WEIGHT), int(Role.ACCUMULATOR), int(Role.GRADIENT), int(Role.RECEIVED)})
COUNTS = ("elements", "inputs", "depth", "bytes")  # attributes that follow the number of elements


def sharded(graph: Graph, stages: tuple[int, ...], replicas: int, least: int) -> Put:
    """``graph`` with the update of every weight of ``least`` elements or more cut to one of ``replicas`` shares."""
    tensors = Columns(graph.tensors)
    sizes = {graph.tensors.name[w]: prod(graph.tensors.shape[w]) for w, _ in graph.gradients}
    large = {name: size for name, size in sizes.items() if size >= least}
    rows = [
        _share(row, large[row.source], replicas, tensors) if row.pass_ == UPDATE and row.source in large else row
        for row in rows_of(graph, stages)
    ]
    return put_together(graph, rows, tensors)


def _share(row: Row, size: int, replicas: int, tensors: Columns) -> Row:
    """One operator of an update on a share: what has as many elements as the weight is cut, scalars are not."""
    part = ceil_div(size, replicas)

    def cut(tensor: int) -> int:
        if prod(tensors.shape[tensor]) != size:
            return tensor
        root = tensors.root(tensor)
        if tensors.role[root] in STAYS_WHOLE:
            view = tensors.like(tensor, tensors.role[root], alias_of=tensor)
            tensors.resize(view, part)
            return view
        if prod(tensors.shape[root]) == size:
            tensors.resize(root, part)
        if tensor != root:
            tensors.resize(tensor, part)
        return tensor

    inputs = tuple(cut(t) for t in row.inputs)
    for tensor in row.outputs:
        if prod(tensors.shape[tensor]) == size:
            root = tensors.root(tensor)
            if tensors.role[root] not in STAYS_WHOLE and prod(tensors.shape[root]) == size:
                tensors.resize(root, part)
            tensors.resize(tensor, part)
    return replace(row, inputs=inputs, attributes=_scaled(row.attributes, size, part))


def _scaled(attributes: dict[str, Any], size: int, part: int) -> dict[str, Any]:
    if not any(attributes.get(name, 0) == size for name in COUNTS) and attributes.get("bytes", 0) % size:
        return attributes
    changed = {}
    for name in COUNTS:
        value = attributes.get(name)
        if isinstance(value, int) and value and value % size == 0:
            changed[name] = value // size * part
    return {**attributes, **changed}
