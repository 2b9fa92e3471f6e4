"""Embedding serialisation: products with the largest table of words are done in steps over its rows.

Fewer rows at a time need less memory while they run, for more supersteps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.graph.edit import Columns, Row, put_together, rows_of
from simulator.graph.graph import Graph, Kind, Role
from simulator.units import ceil_div

DIMENSIONS = ("m", "k", "n")


def serialised(graph: Graph, steps: int) -> Graph:
    """``graph`` with every matrix product over the rows of the largest table in ``steps`` parts."""
    found = products_of_table(graph)
    if not found or steps == 1:
        return graph
    rows = rows_of(graph)
    for index, name in found.items():
        rows[index] = _in_steps(rows[index], name, steps)
    return put_together(graph, rows, Columns(graph.tensors)).graph


def products_of_table(graph: Graph) -> dict[int, str]:
    """Matrix products with the largest table or its gradient: operator -> its dimension over the rows.

    A product whose shape has both dimensions of the table is one.
    """
    table = _largest_table(graph)
    if table is None:
        return {}
    rows_in_table = max(graph.tensors.shape[table])
    width = int(np.prod(graph.tensors.shape[table], dtype=np.int64)) // rows_in_table
    found = {}
    for index in np.flatnonzero(graph.ops.kind == Kind.MATMUL).tolist():
        sizes = {name: graph.ops.attributes[index][name] for name in DIMENSIONS}
        if rows_in_table in sizes.values() and width in sizes.values():
            found[index] = next(name for name, size in sizes.items() if size == rows_in_table)
    return found


def _largest_table(graph: Graph) -> int | None:
    """The largest weight that rows are gathered from."""
    tensors, ops = graph.tensors, graph.ops
    gathers = np.flatnonzero(ops.kind == Kind.GATHER).tolist()
    found = {tensors.root(ops.inputs[i][0]) for i in gathers if ops.inputs[i]}
    tables = [root for root in sorted(found) if tensors.role[root] == Role.WEIGHT and tensors.shape[root]]
    return max(tables, key=lambda root: int(tensors.bytes[root]), default=None)


def _in_steps(row: Row, name: str, steps: int) -> Row:
    attributes = {**row.attributes, name: ceil_div(row.attributes[name], steps)}
    return replace(row, repeats=row.repeats * steps, attributes=attributes)
