"""A traced Graph at another micro-batch without tracing again: every whole number of it as start + slope x batch.

Two traces give start and slope. What does not follow a line, or has another structure, is refused and traced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from simulator.graph.graph import Graph, Operators, Tensors

LEAST = 2  # a batch of one is a structure of its own: sums over it vanish, axes of one are views


class NotAffineError(ValueError):
    """Two traces that no line joins."""


class Line(NamedTuple):
    """``start + slope * batch``."""

    start: int
    slope: int

    def at(self, batch: int) -> int:
        return self.start + self.slope * batch


class Lines(NamedTuple):
    """The same for a whole column."""

    start: Any
    slope: Any

    def at(self, batch: int) -> Any:
        return (self.start + self.slope * batch).astype(self.start.dtype)


Change = tuple[int, Any]  # row of a column, and its value with a Line for each number that follows the batch


@dataclass(frozen=True)
class Template:
    """``graph`` as it was traced, with what changes in each column when the batch does."""

    graph: Graph
    operators: dict[str, Lines | tuple[Change, ...]]
    tensors: dict[str, Lines | tuple[Change, ...]]

    def at(self, batch: int) -> Graph:
        """The Graph of ``batch`` samples. Raises NotAffineError below ``LEAST``."""
        if batch == self.graph.batch:
            return self.graph
        if batch < LEAST:
            raise NotAffineError(f"a batch of {batch} is traced")
        ops = replace(self.graph.ops, **_columns(self.graph.ops, self.operators, batch))
        tensors = replace(self.graph.tensors, **_columns(self.graph.tensors, self.tensors, batch))
        return replace(self.graph, ops=ops, tensors=tensors, batch=batch)


def template(first: Graph, second: Graph) -> Template:
    """The Template through two traces of one model. Raises NotAffineError when no line joins them."""
    if min(first.batch, second.batch) < LEAST or first.batch == second.batch:
        raise NotAffineError("two different batches above one are needed")
    for name in (f.name for f in fields(Graph) if f.name not in ("ops", "tensors", "batch")):
        if getattr(first, name) != getattr(second, name):
            raise NotAffineError(f"{name} depends on the batch")
    batches = (first.batch, second.batch)
    return Template(first, _changes(first.ops, second.ops, batches), _changes(first.tensors, second.tensors, batches))


class Batches:
    """Graphs of one model at any batch: traced where they must be, else from a Template. ``trace(batch)`` traces."""

    def __init__(self, trace: Callable[[int], Graph]) -> None:
        self._trace = trace
        self._known: dict[int, Graph] = {}
        self._template: Template | None = None
        self._refused = False
        self.traces = 0

    def at(self, batch: int) -> Graph:
        """The Graph of ``batch`` samples; the second batch above one is traced, later ones are not."""
        if batch not in self._known:
            self._known[batch] = self._made(batch)
        return self._known[batch]

    def give(self, graph: Graph) -> None:
        """Use a graph that was traced before."""
        self._known[graph.batch] = graph
        self._learn(graph)

    def _made(self, batch: int) -> Graph:
        if self._template is not None and batch >= LEAST:
            return self._template.at(batch)
        self.traces += 1
        graph = self._trace(batch)
        self._learn(graph)
        return graph

    def _learn(self, graph: Graph) -> None:
        if self._template is not None or self._refused or graph.batch < LEAST:
            return
        other = next((g for b, g in self._known.items() if b >= LEAST and b != graph.batch), None)
        if other is not None:
            try:
                self._template = template(other, graph)
            except NotAffineError:
                self._refused = True


def _changes(
    first: Operators | Tensors, second: Operators | Tensors, batches: tuple[int, int]
) -> dict[str, Lines | tuple[Change, ...]]:
    """What differs in each column of two tables."""
    if len(first) != len(second):
        raise NotAffineError("the number of rows depends on the batch")
    found: dict[str, Lines | tuple[Change, ...]] = {}
    for name in (f.name for f in fields(first)):
        mine, others = getattr(first, name), getattr(second, name)
        if isinstance(mine, np.ndarray):
            if not np.array_equal(mine, others):
                found[name] = _line_column(name, mine, others, batches)
        elif mine != others:
            rows = zip(mine, others, strict=True)
            found[name] = tuple((i, _line(name, a, b, batches)) for i, (a, b) in enumerate(rows) if a != b)
    return found


def _line_column(name: str, first: Any, second: Any, batches: tuple[int, int]) -> Lines:
    slope, broken = np.divmod(second.astype(np.int64) - first, batches[1] - batches[0])
    start = first - slope * batches[0]
    if broken.any() or start.min() < 0 or slope.min() < 0:
        raise NotAffineError(f"{name} does not follow the batch on a line")
    return Lines(start.astype(first.dtype), slope.astype(first.dtype))


def _line(name: str, first: Any, second: Any, batches: tuple[int, int]) -> Any:
    """``first`` with a Line in place of each number that differs. A line that starts below zero is a curve's chord."""
    if first == second:
        return first
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return {key: _line(name, value, second[key], batches) for key, value in first.items()}
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        return tuple(_line(name, a, b, batches) for a, b in zip(first, second, strict=True))
    if isinstance(first, int) and isinstance(second, int) and not isinstance(first, bool):
        slope, broken = divmod(second - first, batches[1] - batches[0])
        line = Line(first - slope * batches[0], slope)
        if not broken and min(line) >= 0:
            return line
    raise NotAffineError(f"{name} does not follow the batch on a line")


def _columns(table: Operators | Tensors, changes: dict[str, Lines | tuple[Change, ...]], batch: int) -> dict[str, Any]:
    """The changed columns of ``table`` at ``batch``."""
    found: dict[str, Any] = {}
    for name, change in changes.items():
        if isinstance(change, Lines):
            found[name] = change.at(batch)
            continue
        column = list(getattr(table, name))
        for row, value in change:
            column[row] = _value(value, batch)
        found[name] = tuple(column)
    return found


def _value(value: Any, batch: int) -> Any:
    if isinstance(value, Line):
        return value.at(batch)
    if isinstance(value, dict):
        return {key: _value(inner, batch) for key, inner in value.items()}
    if isinstance(value, tuple):
        return tuple(_value(inner, batch) for inner in value)
    return value
