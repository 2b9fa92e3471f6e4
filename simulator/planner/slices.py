"""Gathers of rows from a table and updates of rows in one: MultiSlice and MultiUpdateAdd of PopLibs, step by step.

How they are cut over tiles is chosen in ``slice_choice``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange, exchange, together
from simulator.planner.layout import Spread, linear
from simulator.planner.movement import copy_work
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.reduction import local_reduce_cycles
from simulator.planner.shares import Ints, ceil_divide, shares, spread
from simulator.planner.slice_choice import (
    INDEX,
    SINGLE,
    Slices,
    Splits,
    choose_slices,
    fill_cycles,
    slice_cycles,
    update_cycles,
)

__all__ = ["Slices", "Splits", "choose_slices", "plan_gather", "plan_update", "table_spread"]


class Laid:
    """Slices over tiles: columns of [tiles] for the width of rows, the part of the table, the lookups of a tile.

    ``kept`` are the lookups whose rows a tile hands on: those of its group, divided over the parts of the table.
    """

    def __init__(self, slices: Slices, ipu: Ipu) -> None:
        self.slices = slices
        self.splits = choose_slices(slices, ipu)
        columns, table, lookups = self.splits
        used = columns * table * lookups
        tile = np.arange(used)
        part, group = tile // columns % table, tile // (columns * table)
        width = shares(slices.row_elements, columns, slices.grain(ipu))[tile % columns]
        seen = shares(slices.rows, lookups)[group]
        kept = seen // table + (part < seen % table)
        pad = (0, ipu.tiles - used)
        self.width = np.pad(width, pad)
        self.part = np.pad(shares(slices.table_rows, table)[part], pad)
        self.seen = np.pad(seen, pad)
        self.kept = np.pad(kept, pad)
        self.group = np.pad(group, pad)
        self.active = (self.seen > 0) & (self.width > 0) & (self.part > 0)

    @property
    def held(self) -> Ints:
        """Elements of the table that a tile works on."""
        return self.part * self.width * self.active

    @property
    def stored(self) -> Ints:
        """Elements of the table that lie on a tile: groups of lookups share what they all read."""
        held, groups = self.part * self.width, self.splits.lookups
        return held // groups + (self.group < held % groups)


@lru_cache(maxsize=PLANS_KEPT)
def plan_gather(slices: Slices, ipu: Ipu) -> Plan:
    """Indices, and the table where several groups read it, go to the tiles; found rows stay where they are found.

    Where the table is cut, each part finds some of the rows and a second slice picks the part that had the row.
    """
    laid = Laid(slices, ipu)
    size, split = slices.itemsize, laid.splits.table
    steps = _fetched(laid, ipu)
    each = ceil_divide(laid.seen, ipu.workers)
    hits = ceil_divide(each * laid.part, slices.table_rows)
    work = slice_cycles(hits, each - hits, laid.width, size, ipu) * laid.active
    steps.append(Step("slice", _shared(laid, ipu), work, Part.SLICE))
    found = split * laid.kept * laid.width * size * laid.active
    if split > 1:
        steps += _renumbered(laid, ipu)
        received = found + laid.kept * INDEX * laid.active
        piece = max(4, int((laid.kept * laid.width).max()) * size)
        each = ceil_divide(laid.kept, ipu.workers)
        work = slice_cycles(each, 0 * each, laid.width, size, ipu) * laid.active
        steps.append(Step("pick part", _everywhere(received, piece, ipu), work, Part.SLICE))
    temporary = _broadcast(laid) + laid.seen * INDEX + (split > 1) * (found + laid.seen * laid.width * size)
    outputs = laid.kept * laid.width
    return _assembled("gather", "multi-slice", laid, steps, outputs, temporary, 0, ipu)


@lru_cache(maxsize=PLANS_KEPT)
def plan_update(slices: Slices, ipu: Ipu) -> Plan:
    """A zeroed table receives the new rows; partial tables of groups of lookups are added; the result leaves the plan.

    The table is not read: what it held is an addition of its own, as autodiff and PopART write it.
    """
    laid = Laid(slices, ipu)
    size, several = slices.itemsize, laid.splits.lookups > 1
    rows = laid.seen * laid.width * size * laid.active
    piece = max(4, int((laid.kept * laid.width).max()) * size)
    arriving = together(_indices(laid, ipu), _multicast(rows, slices.rows * slices.row_elements * size, piece, ipu))
    worker_rows = ceil_divide(laid.part, ipu.workers)
    hits = np.minimum(laid.seen, ceil_divide(laid.seen * worker_rows, slices.table_rows))
    work = update_cycles(hits, laid.seen - hits, laid.width, size, ipu) * laid.active
    steps = [Step("zero", None, np.where(laid.stored > 0, fill_cycles(laid.stored, ipu), 0))]
    if several:
        steps.append(Step("zero partials", None, np.where(laid.held > 0, fill_cycles(laid.held, ipu), 0)))
    steps.append(Step("add rows", arriving, work, Part.SLICE))
    if several:
        steps += _joined(laid, ipu)
    outputs = linear(slices.table_rows * slices.row_elements, size, ipu).elements
    steps.append(_released(outputs * size, ipu))
    temporary = rows + laid.seen * INDEX + (laid.held * SINGLE * 2 if several else 0 * rows)
    flops = slices.rows * slices.row_elements
    return _assembled("scatter", "multi-update", laid, steps, outputs, temporary, flops, ipu)


def table_spread(slices: Slices, ipu: Ipu) -> Spread:
    """Where the table lies so that its splits can be read, shared by the groups of lookups."""
    return Spread(Laid(slices, ipu).stored)


def _fetched(laid: Laid, ipu: Ipu) -> list[Step]:
    """A table that lies elsewhere is first laid as planned."""
    if laid.slices.resident:
        return []
    wanted = laid.stored * laid.slices.itemsize
    piece = max(4, int(laid.width.max()) * laid.slices.itemsize)
    return [Step("fetch table", _everywhere(wanted, piece, ipu), copy_work(wanted, ipu), Part.COPY)]


def _broadcast(laid: Laid) -> Ints:
    """Bytes of the table that a tile gets from the other groups of lookups."""
    return (laid.held - laid.stored * laid.active) * laid.slices.itemsize


def _shared(laid: Laid, ipu: Ipu) -> Exchange:
    """Indices and parts of the table, in one phase; each group sends what it stores once."""
    indices, table = _indices(laid, ipu), _broadcast(laid)
    if not table.any():
        return indices
    piece = max(ipu.atom_bytes, int(laid.stored.max()) * laid.slices.itemsize)
    everything = laid.slices.table_rows * laid.slices.row_elements * laid.slices.itemsize
    return together(indices, _multicast(table, everything, piece, ipu))


def _indices(laid: Laid, ipu: Ipu) -> Exchange:
    """One word an index to every tile of its group, in runs as they lie."""
    run = max(ipu.whole("planner.indices_of_tile") * INDEX, -(-laid.slices.rows // ipu.tiles) * INDEX)
    return _multicast(laid.seen * INDEX * laid.active, laid.slices.rows * INDEX, run, ipu)


def _renumbered(laid: Laid, ipu: Ipu) -> list[Step]:
    """Which part has each row: an index divided by the rows of a part, where the indices lie.

    By a power of two that is a shift; else a division that generated code does in software. A tile with several rows
    to choose also lays out their running numbers.
    """
    rows, tiles = laid.slices.rows, ipu.tiles
    run = max(ipu.whole("planner.indices_of_tile"), -(-rows // tiles))
    lying = spread(rows, min(tiles, -(-rows // run)), tiles)
    each = ceil_divide(lying, ipu.workers)
    part = -(-laid.slices.table_rows // laid.splits.table)
    divide = "codelet.index_shift" if part & (part - 1) == 0 else "codelet.index_divide"
    numbered = np.where(lying > 0, ipu.workers * (26 + each), 0)
    adjusted = np.where(lying > 0, ipu.workers * (29 + ipu.whole(divide) * each) + 11, 0)
    numbers = _everywhere(lying * INDEX, 4, ipu)
    steps = [Step("number rows", None, numbered)]
    if int(laid.kept.max()) > 1:
        steps.append(Step("lay out numbers", numbers, copy_work(lying * INDEX, ipu), Part.COPY))
    return [*steps, Step("adjust indices", numbers, adjusted)]


def _joined(laid: Laid, ipu: Ipu) -> list[Step]:
    """Partial tables are put in order, exchanged and added at once, then added to the zeroed table."""
    groups = laid.splits.lookups
    partial = laid.held * SINGLE
    arriving = laid.stored * laid.active * (groups - 1) * SINGLE
    moved = _everywhere(arriving, max(4, int(laid.stored.max()) * SINGLE), ipu)
    added = local_reduce_cycles(groups, laid.stored, False, ipu) * laid.active
    each = ceil_divide(laid.stored, ipu.workers)
    final = np.where(laid.stored > 0, ipu.workers * (29 + 3 * ceil_divide(each, 2)) + 11, 0)
    return [
        Step("order partials", moved, _rearranged(partial, ipu), Part.COPY),
        Step("add partials", None, added, Part.REDUCE),
        Step("add to table", None, final),
    ]


def _released(amount: Ints, ipu: Ipu) -> Step:
    """The result goes from the planned layout to a plain one: in 8-byte atoms out of one and into the other."""
    moved = _everywhere(amount, int(amount.max()), ipu)
    return Step("release", moved, 2 * _rearranged(amount, ipu), Part.COPY)


def _rearranged(amount: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of a rearrangement of ``amount`` bytes in 8-byte atoms."""
    cycles: Ints = np.ceil(amount * ipu.fact("codelet.rearrange_atoms")).astype(np.int64)
    return cycles


def _everywhere(receive: Ints, piece: int, ipu: Ipu) -> Exchange:
    """Bytes that come evenly from all tiles in runs of ``piece``, each for one tile."""
    return _multicast(receive, int(receive.sum()), piece, ipu)


def _multicast(receive: Ints, unique: int, piece: int, ipu: Ipu) -> Exchange:
    """Bytes that come evenly from all tiles in runs of ``piece``; ``unique`` of them are sent, once each."""
    total = int(receive.sum())
    return exchange(receive, spread(min(unique, total), ipu.tiles, ipu.tiles, 4), piece=piece, copies_bytes=total)


def _assembled(
    method: str, codelet: str, laid: Laid, steps: list[Step], outputs: Ints, temporary: Ints, flops: int, ipu: Ipu
) -> Plan:
    splits = tuple(zip(("columns", "table", "lookups"), laid.splits, strict=True))
    codelets = (f"{codelet}-{laid.slices.itemsize}", f"copy-{laid.slices.itemsize}")
    return assemble(Recipe(method, steps, outputs, codelets, splits, temporary, flops), ipu)
