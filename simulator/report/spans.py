"""The order of a step as data for time lines: each IPU's operators in turn, neighbours of one node joined.

Rows are [name, kind, compute, exchange, sync]: numbers of ``names`` and ``kinds``, then cycles. It draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from simulator.graph.graph import Graph, Pass
from simulator.planner.shares import Ints
from simulator.report.names import path_of

KINDS = (*(p.name.lower() for p in Pass), "host", "collective", "copy", "bubble")
MOST_ROWS = 1500

Row = tuple[str, str, int, int, int]


@dataclass(frozen=True)
class Section:
    """One IPU of a replica: its graph, and compute, exchange and sync of one execution, shape [operators, 3]."""

    graph: Graph
    columns: Ints


class Names:
    """Numbers for names, in order of first use."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.number.setdefault(name, len(self.number))

    @property
    def listed(self) -> list[str]:
        return list(self.number)


def micro_batch(section: Section) -> list[Row]:
    """The operators that run for every micro-batch, in order."""
    return _joined(row for row in _operators(section) if row[1] != "update")


def update(section: Section) -> list[Row]:
    """The operators that run once a step, after all micro-batches."""
    return _joined(row for row in _operators(section) if row[1] == "update")


def encoded(rows: Iterable[Row], names: Names) -> list[list[int]]:
    """Rows as numbers."""
    return [[names(name), KINDS.index(kind), *cycles] for name, kind, *cycles in rows]


def _operators(section: Section) -> Iterator[Row]:
    ops = section.graph.ops
    rows = zip(ops.source, ops.pass_.tolist(), section.columns.tolist(), strict=True)
    for source, pass_, (compute, exchange, sync) in rows:
        yield source, KINDS[pass_], compute, exchange, sync


def _joined(rows: Iterable[Row]) -> list[Row]:
    """Neighbours of the same node and pass as one row; names are cut to fewer parts until there are few enough."""
    found = list(rows)
    depth = max((len(path_of(row[0])) for row in found), default=1)
    joined = _join(found, depth)
    while len(joined) > MOST_ROWS and depth > 1:
        depth -= 1
        joined = _join(found, depth)
    return joined


def _join(rows: list[Row], depth: int) -> list[Row]:
    def key(row: Row) -> tuple[str, str]:
        return ".".join(path_of(row[0])[:depth]), row[1]

    found = []
    for (name, kind), group in groupby(rows, key):
        sums = [sum(column) for column in zip(*(row[2:] for row in group), strict=True)]
        found.append((name, kind, sums[0], sums[1], sums[2]))
    return found
