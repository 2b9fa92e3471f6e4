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
    table = _largest_table(graph)
    if table is None or steps == 1:
        return graph
    rows_in_table = max(graph.tensors.shape[table])
    width = int(np.prod(graph.tensors.shape[table], dtype=np.int64)) // rows_in_table
    rows = [_in_steps(row, rows_in_table, width, steps) for row in rows_of(graph)]
    return put_together(graph, rows, Columns(graph.tensors)).graph


def _largest_table(graph: Graph) -> int | None:
    """The largest weight that rows are gathered from."""
    tensors, ops = graph.tensors, graph.ops
    gathers = np.flatnonzero(ops.kind == Kind.GATHER).tolist()
    found = {tensors.root(ops.inputs[i][0]) for i in gathers if ops.inputs[i]}
    tables = [root for root in sorted(found) if tensors.role[root] == Role.WEIGHT and tensors.shape[root]]
    return max(tables, key=lambda root: int(tensors.bytes[root]), default=None)


def _in_steps(row: Row, rows_in_table: int, width: int, steps: int) -> Row:
    """A product whose shape has both dimensions of the table is one with it, or the gradient of it."""
    if row.kind != Kind.MATMUL:
        return row
    sizes = {name: row.attributes[name] for name in DIMENSIONS}
    if rows_in_table not in sizes.values() or width not in sizes.values():
        return row
    name = next(name for name, size in sizes.items() if size == rows_in_table)
    attributes = {**row.attributes, name: ceil_div(rows_in_table, steps)}
    return replace(row, repeats=row.repeats * steps, attributes=attributes)
