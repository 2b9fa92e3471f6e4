"""Weights that several IPUs of a replica use: each sums its own part of the gradient, the parts are added once a step.

A rewrite of the whole graph before it is cut. Without it every micro-batch would send a gradient of the weight's size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simulator.graph.edit import ELEMENTWISE, UPDATE, Columns, Row, put_together, rows_of
from simulator.graph.graph import Graph, Pass
from simulator.parallel.stages import Staging


def parts_added_once(graph: Graph, staging: Staging, stage_ipus: Sequence[int]) -> tuple[Graph, Staging]:
    """``graph`` with sums of gradients from several IPUs moved to the update, and its stages."""
    rows, tensors = rows_of(graph, staging.of), Columns(graph.tensors)
    maker = {tensors.root(t): i for i, row in enumerate(rows) for t in row.outputs}
    moved: dict[int, Row] = {}
    pairs: list[tuple[int, int]] = []
    for weight, gradient in graph.gradients:
        home = staging.home.get(tensors.root(weight), 0)
        parts = _parts(gradient, rows, tensors, maker, stage_ipus, home, graph.tensors.name[weight], moved)
        pairs += [(weight, part) for part in parts]
    if not moved:
        return graph, staging
    first = next(i for i, row in enumerate(rows) if row.pass_ == UPDATE)
    kept = [row for i, row in enumerate(rows[:first]) if i not in moved]
    ordered = [
        *kept,
        *[moved[i] for i in sorted(moved)],
        *[r for i, r in enumerate(rows[first:], first) if i not in moved],
    ]
    put = put_together(replace(graph, gradients=tuple(pairs)), ordered, tensors)
    home_of = {put.number[root]: stage for root, stage in staging.home.items() if root in put.number}
    return put.graph, replace(staging, of=put.stages, home=home_of)


def _parts(
    gradient: int, rows: list[Row], tensors: Columns, maker: dict[int, int], stage_ipus: Sequence[int], home: int,
    weight: str, moved: dict[int, Row],
) -> list[int]:  # fmt: skip
    """The gradients that are summed apart in place of ``gradient``; sums over IPUs go to ``moved``."""
    index = maker.get(tensors.root(gradient))
    row = rows[index] if index is not None else None
    if index is None or row is None or not _is_sum(row):
        return [gradient]
    makers = [maker.get(tensors.root(t)) for t in row.inputs]
    places = {stage_ipus[rows[i].stage] for i in makers if i is not None}
    if len(places) < 2:
        return [gradient]
    moved[index] = replace(row, pass_=int(Pass.UPDATE), source=weight, stage=home)
    found: list[int] = []
    for tensor in row.inputs:
        found += _parts(tensor, rows, tensors, maker, stage_ipus, home, weight, moved)
    return found


def _is_sum(row: Row) -> bool:
    return row.kind == ELEMENTWISE and row.pass_ == Pass.BACKWARD and set(row.attributes["functions"]) == {"add_any"}
