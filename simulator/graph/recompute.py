"""Recomputation: forward work is done again in the backward pass, so that fewer tensors wait for it.

A transform of the Graph, never of the trace: the copies read the same random keys, so masks come out the same. Which
tensors are kept is the caller's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simulator.graph.edit import ELEMENTWISE, Columns, Put, Row, put_together, rows_of
from simulator.graph.graph import Graph, Pass, Role

READS_AGAIN = frozenset({int(Pass.BACKWARD), int(Pass.RECOMPUTE)})


def module_outputs(graph: Graph, names: Sequence[str]) -> set[int]:
    """Roots that forward operators of a named node (or of the nodes that begin so) hand to others.

    Of overlapping names each counts for itself: a module within a module keeps its own outputs too.
    """
    ops, tensors = graph.ops, graph.tensors
    forward = np.flatnonzero(ops.pass_ == Pass.FORWARD).tolist()
    exact = {ops.source[i] for i in forward}
    readers: dict[int, list[int]] = {}
    for i in forward:
        for tensor in ops.inputs[i]:
            readers.setdefault(tensors.root(tensor), []).append(i)
    outputs = set(np.flatnonzero(tensors.role == Role.OUTPUT).tolist())
    found: set[int] = set()
    for name in names:
        alone = name in exact
        inside = {i for i in forward if (ops.source[i] == name if alone else ops.source[i].startswith(name))}
        made = {tensors.root(t) for i in inside for t in ops.outputs[i]}
        found |= {root for root in made if any(i not in inside for i in readers.get(root, ()))} | (made & outputs)
    return found


def recomputed(graph: Graph, stages: Sequence[int], kept: set[int], exempt: set[int]) -> Put:
    """``graph`` with copies of forward operators before the backward operators that need what they made.

    ``kept`` are roots that stay in memory; ``exempt`` are operators whose results stay too. What another stage made
    stays as well: it entered this stage.
    """
    return _Transform(graph, stages, kept, exempt).run()


class _Transform:
    def __init__(self, graph: Graph, stages: Sequence[int], kept: set[int], exempt: set[int]) -> None:
        self.graph = graph
        self.rows = rows_of(graph, stages)
        self.tensors = Columns(graph.tensors)
        self.roots = [graph.tensors.root(t) for t in range(len(graph.tensors))]
        self.copy_of: dict[int, int] = {}
        self.maker: dict[int, int] = {}  # root that is not kept -> the forward operator that makes it
        for index, row in enumerate(self.rows):
            if row.pass_ == Pass.FORWARD and index not in exempt:
                for tensor in row.outputs:
                    root = self.roots[tensor]
                    if root == tensor and root not in kept:
                        self.maker[root] = index

    def run(self) -> Put:
        out: list[Row] = []
        for row in self.rows:
            if row.pass_ in READS_AGAIN:
                for index in self._missing(row):
                    out.append(self._copied(self.rows[index]))
                out.append(replace(row, inputs=tuple(self._now(t, row.stage) for t in row.inputs)))
            else:
                out.append(row)
        return put_together(self.graph, _unread_left_out(out, self.tensors), self.tensors)

    def _lost(self, tensor: int, stage: int) -> int | None:
        """The operator that must run again before ``stage`` can read ``tensor``; None when it is in memory."""
        root = self.roots[tensor]
        index = self.maker.get(root)
        return index if index is not None and self.rows[index].stage == stage else None

    def _missing(self, row: Row) -> list[int]:
        """Forward operators to copy before ``row``, in order of data flow."""
        wanted: set[int] = set()
        left = [(t, row.stage) for t in row.inputs]
        while left:
            tensor, stage = left.pop()
            index = self._lost(tensor, stage)
            if index is None or self.roots[tensor] in self.copy_of or index in wanted:
                continue
            wanted.add(index)
            left.extend((t, stage) for t in self.rows[index].inputs)
        return sorted(wanted)

    def _copied(self, row: Row) -> Row:
        inputs = tuple(self._now(t, row.stage) for t in row.inputs)
        for tensor in row.outputs:
            self.copy_of[tensor] = self.tensors.like(tensor, Role.ACTIVATION)
        outputs = tuple(self.copy_of[t] for t in row.outputs)
        return replace(row, pass_=int(Pass.RECOMPUTE), inputs=inputs, outputs=outputs)

    def _now(self, tensor: int, stage: int) -> int:
        """What ``stage`` reads in place of ``tensor``: its copy, or a view of the copy of its root."""
        if self._lost(tensor, stage) is None:
            return tensor
        if tensor not in self.copy_of:
            of = self._now(self.tensors.alias_of[tensor], stage)
            self.copy_of[tensor] = self.tensors.like(tensor, Role.ACTIVATION, alias_of=of)
        return self.copy_of[tensor]


def _unread_left_out(rows: list[Row], tensors: Columns) -> list[Row]:
    """Fused chains no longer write what only the backward pass would have read."""
    read = {tensors.root(t) for row in rows for t in row.inputs}

    def needed(row: Row) -> Row:
        if row.kind != ELEMENTWISE or len(row.outputs) == 1:
            return row
        held = tuple(t for t in row.outputs if tensors.root(t) in read or tensors.role[t] == Role.OUTPUT)
        return replace(row, outputs=held or row.outputs[:1])

    return [needed(row) for row in rows]
