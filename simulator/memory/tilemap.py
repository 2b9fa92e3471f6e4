"""Sweeps the schedule over bytes of every tile: which is fullest when, and what lies there. Remedies are in ``fit``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.graph.graph import Graph, Pass
from simulator.machines.ipu import Ipu
from simulator.memory.crossing import joining_bytes
from simulator.memory.lifetimes import CATEGORIES, NOTHING_HELD, Held, Lifetimes, lifetimes
from simulator.memory.resident import resident_bytes
from simulator.planner.assign import Assignment
from simulator.planner.layout import Layout, linear
from simulator.planner.shares import Ints, proportional, rolled
from simulator.units import Bytes


@dataclass(frozen=True)
class MemoryMap:
    """Bytes when the fullest tile is at its fullest: ``by_tile`` category -> [tiles]; totals over tiles and time.

    ``always_live`` and ``not_always_live`` are sums over all tiles at each step (shape [steps]).
    """

    by_tile: dict[str, Ints]
    worst_tile: int
    worst_step: int
    live: tuple[tuple[int, str], ...]  # (root tensor, category) at the worst step
    live_bytes: tuple[Bytes, ...]  # bytes of each of ``live`` over all tiles, all copies of it
    on_worst_tile: tuple[Bytes, ...]  # of them on the worst tile
    always_live: Bytes
    not_always_live: Ints
    passing: Bytes = 0  # over all tiles: on the way between other IPUs, part of the stash and no tensor of this graph
    before_update: Bytes = 0  # of the tile that holds most when the update begins, before it works

    @cached_property
    def tile_bytes(self) -> Ints:
        """Bytes of every tile at the worst step. Shape [tiles]."""
        return np.sum([self.by_tile[name] for name in CATEGORIES], axis=0, dtype=np.int64)


class _Placed:
    """Bytes of tensors on tiles, computed once for every (layout, size)."""

    def __init__(self, graph: Graph, assignment: Assignment) -> None:
        self.bytes = graph.tensors.bytes
        self.layouts = assignment.layouts
        self.known: dict[tuple[Layout, int], Ints] = {}
        self.of_root: dict[int, Ints] = {}
        self.totals: dict[int, Bytes] = {}

    def __call__(self, root: int) -> Ints:
        found = self.of_root.get(root)
        if found is None:
            found = self.of_root[root] = self._of(self.layouts[root], int(self.bytes[root]))
        return found

    def total(self, root: int) -> Bytes:
        """Bytes over all tiles."""
        if root not in self.totals:
            self.totals[root] = int(self(root).sum())
        return self.totals[root]

    def _of(self, layout: Layout, amount: Bytes) -> Ints:
        key = (layout, amount)
        if key not in self.known:
            self.known[key] = rolled(_sized(amount, layout.spread.elements, layout.spread.total), layout.start)
        return self.known[key]


def _sized(amount: Bytes, elements: Ints, total: int) -> Ints:
    itemsize, broken = divmod(amount, total)
    return proportional(amount, elements) if broken else elements * itemsize


def memory_map(graph: Graph, assignment: Assignment, ipu: Ipu, held: Held = NOTHING_HELD) -> MemoryMap:
    """Bytes of every tile over the schedule of ``graph``."""
    placed = _Placed(graph, assignment)
    spans = lifetimes(graph, held, assignment.layouts)
    touched = [i for i, root in enumerate(spans.root.tolist()) if root in assignment.layouts]
    by_tile = {name: np.zeros(ipu.tiles, dtype=np.int64) for name in CATEGORIES}
    by_tile.update(resident_bytes(assignment, ipu))
    by_tile["stash"] += linear(held.passing, 1, ipu).elements
    for i in touched:
        if spans.always[i]:
            by_tile[spans.category[i]] += placed(int(spans.root[i])) * spans.copies[i]
    fixed: Ints = np.sum(list(by_tile.values()), axis=0, dtype=np.int64)
    passing = [i for i in touched if not spans.always[i]]
    working = _Working(graph, assignment, ipu, held)
    worst_step, worst_tile, before_update, liveness = _sweep(fixed, passing, spans, placed, working)
    for i in passing:
        if spans.first[i] <= worst_step <= spans.last[i]:
            by_tile[spans.category[i]] += placed(int(spans.root[i]))
    if assignment.plans:
        by_tile["temporaries"] += working.at(worst_step)
    live = [i for i in touched if spans.always[i] or spans.first[i] <= worst_step <= spans.last[i]]
    return MemoryMap(
        by_tile=by_tile,
        worst_tile=worst_tile,
        worst_step=worst_step,
        live=tuple((int(spans.root[i]), spans.category[i]) for i in live),
        live_bytes=tuple(int(graph.tensors.bytes[spans.root[i]] * spans.copies[i]) for i in live),
        on_worst_tile=tuple(int(placed(int(spans.root[i]))[worst_tile] * spans.copies[i]) for i in live),
        always_live=int(fixed.sum()),
        not_always_live=liveness,
        passing=held.passing,
        before_update=before_update,
    )


class _Working:
    """Bytes that tiles need while a step runs: what its plan asks for, and room for what crosses between IPUs."""

    def __init__(self, graph: Graph, assignment: Assignment, ipu: Ipu, held: Held) -> None:
        self.plans, self.starts = assignment.plans, assignment.starts
        updates = np.flatnonzero(graph.ops.pass_ == Pass.UPDATE)
        self.first_update = int(updates[0]) if len(updates) else -1
        self._crossing: dict[int, Ints] = {}
        if held.width > 1:
            for step, attributes in enumerate(graph.ops.attributes):
                needed = joining_bytes(attributes.get("joined", 0), held.width)
                if needed:
                    self._crossing[step] = linear(needed, 1, ipu).elements
        if held.summing and self.first_update >= 0:
            self._crossing[self.first_update] = linear(held.summing, 1, ipu).elements
        self._bounds: dict[int, tuple[Bytes, Bytes]] = {}

    def at(self, step: int) -> Ints:
        """Bytes of every tile. Sums run before or after the operator, not while it works. Shape [tiles]."""
        own = rolled(self.plans[step].temporary, self.starts[step])
        return np.maximum(own, self._crossing[step]) if step in self._crossing else own

    def bounds(self, step: int) -> tuple[Bytes, Bytes]:
        """Bytes over all tiles, and of the tile with most."""
        if step in self._crossing:
            needed = self.at(step)
            return int(needed.sum()), int(needed.max())
        plan = self.plans[step]
        if id(plan) not in self._bounds:
            self._bounds[id(plan)] = int(plan.temporary.sum()), int(plan.temporary.max())
        return self._bounds[id(plan)]


def _sweep(
    fixed: Ints, passing: list[int], spans: Lifetimes, placed: _Placed, working: _Working
) -> tuple[int, int, Bytes, Ints]:
    """The step and tile with most bytes, the bytes of the fullest tile as the update begins, and the bytes beyond
    ``fixed`` at each step over all tiles.

    A step whose fullest tile cannot hold more than the fullest so far is not looked at tile by tile.
    """
    steps = len(working.plans)
    born: list[list[int]] = [[] for _ in range(steps + 1)]
    dead: list[list[int]] = [[] for _ in range(steps + 1)]
    for i in passing:
        born[int(spans.first[i])].append(i)
        dead[int(spans.last[i]) + 1].append(i)
    now, most, worst_step, worst_tile = fixed.copy(), -1, 0, 0
    liveness = np.zeros(steps, dtype=np.int64)
    roots = spans.root.tolist()
    passing_bytes, fullest = 0, int(fixed.max())
    before_update = 0
    for step in range(steps):
        for i in dead[step]:
            now -= placed(roots[i])
            passing_bytes -= placed.total(roots[i])
        for i in born[step]:
            now += placed(roots[i])
            passing_bytes += placed.total(roots[i])
        if born[step] or dead[step]:
            fullest = int(now.max())
        if step == working.first_update:
            before_update = fullest
        total, most_of_tile = working.bounds(step)
        liveness[step] = passing_bytes + total
        if fullest + most_of_tile > most:
            with_temporary = now + working.at(step) if most_of_tile else now
            tile = int(np.argmax(with_temporary))
            if with_temporary[tile] > most:
                most, worst_step, worst_tile = int(with_temporary[tile]), step, tile
    return worst_step, worst_tile, before_update, liveness
