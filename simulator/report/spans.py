"""The order of a step as data for time lines: each IPU's operators in turn, neighbours of one node joined.

Rows are [name, kind, compute, exchange, sync]: numbers of ``names`` and ``kinds``, then cycles. It draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Protocol

from simulator.graph.graph import Graph, Pass
from simulator.report.names import path_of
from simulator.schedule.timeline import Timeline

KINDS = (*(p.name.lower() for p in Pass), "host", "collective", "copy")
MOST_ROWS = 1500

Row = tuple[str, str, int, int, int]


class Section(Protocol):
    """One IPU of a replica: its graph and what its operators cost."""

    @property
    def graph(self) -> Graph: ...
    @property
    def timeline(self) -> Timeline: ...


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
    ops, line = section.graph.ops, section.timeline
    columns = (line.compute.tolist(), line.exchange.tolist(), line.sync.tolist(), ops.pass_.tolist())
    for source, compute, exchange, sync, pass_ in zip(ops.source, *columns, strict=True):
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


def time_line(
    section: Section,
    *,
    accumulation: int,
    before: Iterable[Row],
    between: Iterable[Row],
    after: Iterable[Row],
    names: Names,
) -> list[dict[str, Any]]:
    """Sections of one IPU in order: transfers in, micro-batches, what is summed and updated, transfers out."""
    parts = [
        ("in", 1, list(before)),
        ("micro-batch", accumulation, micro_batch(section)),
        ("update", 1, [*between, *update(section)]),
        ("out", 1, list(after)),
    ]
    return [{"label": label, "times": n, "rows": encoded(rows, names)} for label, n, rows in parts if rows]
