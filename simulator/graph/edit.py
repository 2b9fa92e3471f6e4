"""A Graph taken apart so that operators can be added, replaced or left out, and put together again. It decides nothing.

Every rewrite after tracing (recomputation, accumulation, sharding, the part of one IPU) is a list of rows edited here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simulator.graph.graph import Graph, Kind, Operators, Pass, Role, Tensors
from simulator.units import Bytes


@dataclass(frozen=True)
class Row:
    """One operator. ``stage`` is the pipeline stage that runs it (-1: every IPU that needs it)."""

    kind: int
    pass_: int
    repeats: int
    source: str
    primitive: str
    attributes: dict[str, Any]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    stage: int = 0


def rows_of(graph: Graph, stages: Sequence[int] | None = None) -> list[Row]:
    """The operators of ``graph``, with their stages where those are known."""
    ops = graph.ops
    placed = [0] * len(ops) if stages is None else stages
    return [
        Row(*row)
        for row in zip(
            ops.kind.tolist(), ops.pass_.tolist(), ops.repeats.tolist(), ops.source, ops.primitive, ops.attributes,
            ops.inputs, ops.outputs, placed, strict=True,
        )
    ]  # fmt: skip


class Columns:
    """The tensors of a graph, to which more can be added; numbers of those that were there stay."""

    def __init__(self, tensors: Tensors) -> None:
        self.bytes: list[int] = tensors.bytes.tolist()
        self.role: list[int] = tensors.role.tolist()
        self.alias_of: list[int] = tensors.alias_of.tolist()
        self.shape = list(tensors.shape)
        self.dtype = list(tensors.dtype)
        self.name = list(tensors.name)

    def __len__(self) -> int:
        return len(self.bytes)

    def root(self, tensor: int) -> int:
        while self.alias_of[tensor] >= 0:
            tensor = self.alias_of[tensor]
        return tensor

    def like(self, tensor: int, role: int, *, alias_of: int = -1, name: str = "") -> int:
        """A new tensor of the shape, type and bytes of another."""
        return self.add(self.bytes[tensor], role, self.shape[tensor], self.dtype[tensor], alias_of=alias_of, name=name)

    def add(
        self, amount: Bytes, role: int, shape: tuple[int, ...], dtype: str, *, alias_of: int = -1, name: str = ""
    ) -> int:
        """A new tensor's number."""
        self.bytes.append(amount)
        self.role.append(role)
        self.alias_of.append(alias_of)
        self.shape.append(shape)
        self.dtype.append(dtype)
        self.name.append(name)
        return len(self.bytes) - 1

    def resize(self, tensor: int, elements: int) -> None:
        """Make ``tensor`` flat and ``elements`` long, of the same bytes an element."""
        count = max(1, int(np.prod(self.shape[tensor], dtype=np.int64)))
        self.bytes[tensor] = self.bytes[tensor] // count * elements
        self.shape[tensor] = (elements,)


@dataclass(frozen=True)
class Put:
    """A graph put together, its stages by operator, and where tensors went: ``number[old]``, absent when dropped."""

    graph: Graph
    stages: tuple[int, ...]
    number: dict[int, int]


def put_together(
    graph: Graph, rows: Sequence[Row], tensors: Columns, *, always: Iterable[int] = (), keep_given: bool = True
) -> Put:
    """A Graph of ``rows``. Tensors that nothing holds are dropped; of given ones only if not ``keep_given``.

    ``always`` names further tensors to hold. Pairs of weight and gradient stay where both do.
    """
    held = {t for row in rows for t in (*row.inputs, *row.outputs)} | set(always)
    if keep_given:
        held |= {t for t, role in enumerate(tensors.role) if role <= Role.OPTIMISER_STATE}
    for tensor in sorted(held):
        while (tensor := tensors.alias_of[tensor]) >= 0 and tensor not in held:
            held.add(tensor)
    kept = _in_order(held, tensors)
    number = {old: new for new, old in enumerate(kept)}
    pairs = tuple((number[w], number[g]) for w, g in graph.gradients if w in number and g in number)
    put = replace(graph, ops=_operators(rows, number), tensors=_tensors(kept, number, tensors), gradients=pairs)
    return Put(put, tuple(row.stage for row in rows), number)


def _in_order(held: set[int], tensors: Columns) -> list[int]:
    """Ascending, but a root before whatever views it."""
    depth: dict[int, int] = {}
    for tensor in sorted(held):
        steps, at = 0, tensor
        while (at := tensors.alias_of[at]) >= 0:
            steps += 1
        depth[tensor] = steps
    forwards = all(tensors.alias_of[t] < t for t in held)
    return sorted(held) if forwards else sorted(held, key=lambda t: (depth[t], t))


def _operators(rows: Sequence[Row], number: dict[int, int]) -> Operators:
    renumbered: Callable[[tuple[int, ...]], tuple[int, ...]] = lambda row: tuple([number[t] for t in row])  # noqa: E731
    return Operators(
        kind=np.array([row.kind for row in rows], np.int8),
        pass_=np.array([row.pass_ for row in rows], np.int8),
        repeats=np.array([row.repeats for row in rows], np.int64),
        source=tuple([row.source for row in rows]),
        primitive=tuple([row.primitive for row in rows]),
        attributes=tuple([row.attributes for row in rows]),
        inputs=tuple([renumbered(row.inputs) for row in rows]),
        outputs=tuple([renumbered(row.outputs) for row in rows]),
    )


def _tensors(kept: list[int], number: dict[int, int], tensors: Columns) -> Tensors:
    return Tensors(
        bytes=np.array([tensors.bytes[t] for t in kept], np.int64),
        role=np.array([tensors.role[t] for t in kept], np.int8),
        alias_of=np.array([number.get(tensors.alias_of[t], -1) for t in kept], np.int64),
        shape=tuple([tensors.shape[t] for t in kept]),
        dtype=tuple([tensors.dtype[t] for t in kept]),
        name=tuple([tensors.name[t] for t in kept]),
    )


def elementwise(function: str, elements: int, arity: int) -> dict[str, Any]:
    """Attributes of one element-wise operator."""
    return {"function": function, "functions": (function,), "depth": 1, "elements": elements, "arity": arity}


ELEMENTWISE = int(Kind.ELEMENTWISE)
UPDATE = int(Pass.UPDATE)
