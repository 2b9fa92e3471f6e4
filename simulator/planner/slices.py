"""Gathers of rows from a table and updates of rows in one: MultiSlice and MultiUpdateAdd of PopLibs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange, exchange, run_of, together
from simulator.planner.layout import Spread, linear
from simulator.planner.movement import copy_work
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.reduction import reduce_add_cycles, stage_depths
from simulator.planner.search import useful_splits
from simulator.planner.shares import Ints, ceil_divide, proportional, shares, spread

INDEX = 4  # bytes


@dataclass(frozen=True)
class Slices:
    """``rows`` lookups of ``row_elements`` in a table of ``table_rows``; ``update``: rows are added to those there.

    ``resident``: the table lies as planned.
    """

    rows: int
    row_elements: int
    table_rows: int
    itemsize: int
    update: bool
    resident: bool


@lru_cache(maxsize=1024)
def choose_slices(slices: Slices, ipu: Ipu) -> tuple[int, int, int]:
    """Splits (columns, table, lookups) with least estimated cycles."""
    grain = max(1, ipu.atom_bytes // slices.itemsize)
    columns = useful_splits(-(-slices.row_elements // grain), ipu.tiles)
    table = useful_splits(slices.table_rows, ipu.tiles)
    lookups = useful_splits(slices.rows, ipu.tiles)
    c, t, n = (axis.reshape(-1) for axis in np.meshgrid(columns, table, lookups, indexing="ij"))
    keep = c * t * n <= ipu.tiles
    c, t, n = c[keep], t[keep], n[keep]
    width = ceil_divide(ceil_divide(slices.row_elements, grain), c) * grain
    seen = ceil_divide(slices.rows, n)
    found = ceil_divide(seen, t)
    held = ceil_divide(slices.table_rows, t) * width * slices.itemsize
    rate = ipu.exchange_bytes_per_cycle
    if slices.update:  # every tile gets the rows it looks at; partial tables are added up: exchange and arithmetic
        work = update_cycles(found, seen - found, width, slices.itemsize, ipu)
        cycles = work + seen + ceil_divide(seen * width * slices.itemsize, rate) + np.where(n > 1, held, 0)
    else:  # found rows are handed on; each split of the lookups needs its own copy of the part of the table
        work = slice_cycles(found, seen - found, width, slices.itemsize, ipu)
        cycles = work + seen + ceil_divide(found * width * slices.itemsize, rate)
        cycles = cycles + np.where(n > 1, ceil_divide(held, rate), 0)
    best = int(np.argmin(cycles))
    return int(c[best]), int(t[best]), int(n[best])


def slice_cycles(found: Ints, missed: Ints, width: Ints, itemsize: int, ipu: Ipu) -> Ints:
    """MultiSlice on a tile: offsets are shared by the workers, 19 cycles and the row for a hit, 8 for a miss."""
    row = ceil_divide(width * itemsize, ipu.atom_bytes) * 2
    return ipu.workers * (30 + ceil_divide(found, ipu.workers) * (19 + row) + ceil_divide(missed, ipu.workers) * 8)


def update_cycles(found: Ints, missed: Ints, width: Ints, itemsize: int, ipu: Ipu) -> Ints:
    """MultiUpdateAdd on a tile: three cycles for every 4-byte atom of a hit, 5 for a miss."""
    atoms = ceil_divide(width * itemsize, 4)
    per_worker = ceil_divide(found, ipu.workers) * (12 + 3 * atoms)
    return ipu.workers * (35 + per_worker + ceil_divide(missed, ipu.workers) * 5)


class Laid:
    """Slices over tiles: columns of [tiles] for the width of rows, the part of the table, lookups seen and found."""

    def __init__(self, slices: Slices, ipu: Ipu) -> None:
        self.slices = slices
        self.c, self.t, self.n = choose_slices(slices, ipu)
        used = self.c * self.t * self.n
        tile = np.arange(used)
        part = tile // self.c % self.t
        seen = shares(slices.rows, self.n)[tile // (self.c * self.t)]
        pad = (0, ipu.tiles - used)
        width = shares(slices.row_elements, self.c, max(1, ipu.atom_bytes // slices.itemsize))[tile % self.c]
        self.width = np.pad(width, pad)
        self.part = np.pad(shares(slices.table_rows, self.t)[part], pad)
        self.seen = np.pad(seen, pad)
        self.found = np.pad(seen // self.t + (part < seen % self.t), pad)
        self.active = self.seen > 0
        self.first = np.pad((tile < self.c * self.t).astype(np.int64), pad)

    def table(self, ipu: Ipu) -> Exchange | None:
        """The table to where it is read: every row comes apart when rows are cut. None when all of it is there."""
        needed = self.part * self.width * self.slices.itemsize
        if self.slices.resident:
            needed = needed * (1 - self.first)
        if not needed.any():
            return None
        everything = self.slices.table_rows * self.slices.row_elements * self.slices.itemsize
        piece = int(self.width.max()) * self.slices.itemsize if self.c > 1 else run_of(everything, ipu)
        return _from_all(needed, everything, piece, ipu)


@lru_cache(maxsize=PLANS_KEPT)
def plan_gather(slices: Slices, ipu: Ipu) -> Plan:
    """Indices go to all tiles that hold a part of the table; found rows are handed to where the result lies."""
    laid = Laid(slices, ipu)
    table = laid.table(ipu)
    indices = laid.seen * INDEX
    sent = _from_all(indices, slices.rows * INDEX, int(indices.max()), ipu)
    missed = laid.seen - laid.found
    work = slice_cycles(laid.found, missed, laid.width, slices.itemsize, ipu) * laid.active
    outputs = linear(slices.rows * slices.row_elements, slices.itemsize, ipu)
    results = outputs.elements * slices.itemsize
    row_piece = int(laid.width.max()) * slices.itemsize
    steps = [Step("fetch table", table, copy_work(table.receive, ipu), Part.COPY)] if table is not None else []
    steps.append(Step("broadcast indices", sent, work, Part.SLICE))
    placed = _from_all(results, int(results.sum()), row_piece, ipu)
    steps.append(Step("place rows", placed, copy_work(results, ipu), Part.COPY))
    temporary = indices + laid.found * laid.width * slices.itemsize + _held(table, ipu)
    return _assembled("gather", "multi-slice", laid, steps, outputs.elements, temporary, 0, ipu)


@lru_cache(maxsize=PLANS_KEPT)
def plan_update(slices: Slices, ipu: Ipu) -> Plan:
    """Indices and new rows go to all tiles that hold a part of the table; partial tables are then added up."""
    laid = Laid(slices, ipu)
    table = laid.table(ipu)
    indices = laid.seen * INDEX
    rows = laid.seen * laid.width * slices.itemsize
    unique = slices.rows * slices.row_elements * slices.itemsize
    sent = together(
        _from_all(indices, slices.rows * INDEX, int(indices.max()), ipu),
        _from_all(rows, unique, max(4, int(laid.width.max()) * slices.itemsize), ipu),
    )
    missed = laid.seen - laid.found
    work = update_cycles(laid.found, missed, laid.width, slices.itemsize, ipu) * laid.active
    steps = [Step("fetch table", table, copy_work(table.receive, ipu), Part.COPY)] if table is not None else []
    steps.append(Step("send updates", sent, work, Part.SLICE))
    joined, left = _added(laid, ipu)
    temporary = indices + rows + _held(table, ipu)
    outputs = proportional(slices.table_rows * slices.row_elements, left)
    flops = slices.rows * slices.row_elements
    return _assembled("scatter", "multi-update", laid, steps + joined, outputs, temporary, flops, ipu)


def _added(laid: Laid, ipu: Ipu) -> tuple[list[Step], Ints]:
    """Add up the partial tables of tiles that saw different updates; the elements that each tile ends with."""
    steps, left, itemsize = [], laid.part * laid.width, laid.slices.itemsize
    for stage in stage_depths(laid.n):
        left = ceil_divide(left, stage)
        receive = left * (stage - 1) * itemsize
        total = int(receive.sum())
        moved = _from_all(receive, total, max(4, int(left.max()) * itemsize), ipu)
        steps.append(Step("add tables", moved, reduce_add_cycles(stage, left, itemsize == 2, ipu), Part.REDUCE))
    return steps, left


def _held(table: Exchange | None, ipu: Ipu) -> Ints:
    """Bytes of the fetched table on each tile."""
    return np.zeros(ipu.tiles, dtype=np.int64) if table is None else table.receive


def _from_all(receive: Ints, unique: int, piece: int, ipu: Ipu) -> Exchange:
    """Bytes that come evenly from all tiles, ``unique`` of them sent once, in runs of ``piece``."""
    total = int(receive.sum())
    return exchange(receive, spread(min(unique, total), ipu.tiles, ipu.tiles, 4), piece=piece, copies_bytes=total)


def _assembled(
    method: str, codelet: str, laid: Laid, steps: list[Step], outputs: Ints, temporary: Ints, flops: int, ipu: Ipu
) -> Plan:
    splits = (("columns", laid.c), ("table", laid.t), ("lookups", laid.n))
    codelets = (f"{codelet}-{laid.slices.itemsize}", f"copy-{laid.slices.itemsize}")
    return assemble(Recipe(method, steps, outputs, codelets, splits, temporary, flops), ipu)


def table_spread(slices: Slices, ipu: Ipu) -> Spread:
    """Where the table lies so that its splits can be read: on the tiles of the first lookup split."""
    laid = Laid(slices, ipu)
    return Spread(laid.part * laid.width * laid.first)
