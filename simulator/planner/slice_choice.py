"""How a gather or an update is cut over tiles: the choice that PopLibs' planner of embeddings makes.

It restates the estimates by which PopLibs chooses (popops DynamicSlice, SDK 3.3: exchange summed, no sync); what the
chosen plan then costs on hardware is counted in ``slices``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.shares import Ints, ceil_divide

INDEX = 4  # bytes
SINGLE = 4  # bytes of an element that partial tables are added in


@dataclass(frozen=True)
class Slices:
    """``rows`` lookups of ``row_elements`` in a table of ``table_rows``; ``update``: rows are added to those there.

    ``resident``: the table lies as planned. ``proportion`` of a tile's memory may be used while it runs.
    """

    rows: int
    row_elements: int
    table_rows: int
    itemsize: int
    update: bool
    resident: bool
    proportion: float = 0.6

    def grain(self, ipu: Ipu) -> int:
        """Elements of a row that are never cut: 8 bytes."""
        return min(self.row_elements, max(1, ipu.atom_bytes // self.itemsize))


class Splits(NamedTuple):
    """Tiles that share a row, the table, the lookups."""

    columns: int
    table: int
    lookups: int


class _Cut(NamedTuple):
    """Candidates, shape [candidates] each, and what each leaves to a tile."""

    columns: Ints
    table: Ints
    lookups: Ints
    width: Ints
    part: Ints
    seen: Ints


@lru_cache(maxsize=1024)
def choose_slices(slices: Slices, ipu: Ipu) -> Splits:
    """The splits with least estimated cycles that stay within the memory proportion, or else without that bound."""
    best: tuple[float, Splits] | None = None
    for bounded in (True, False):
        for columns in useful_cuts(-(-slices.row_elements // slices.grain(ipu)), ipu.tiles):
            cut = _candidates(slices, int(columns), ipu)
            cycles, temporary = (_update if slices.update else _gather)(slices, cut, ipu)
            if bounded:
                cycles = np.where(temporary <= slices.proportion * ipu.bytes_per_tile, cycles, np.inf)
            found = int(np.argmin(cycles))
            if np.isfinite(cycles[found]) and (best is None or cycles[found] < best[0]):
                best = (float(cycles[found]), Splits(int(columns), int(cut.table[found]), int(cut.lookups[found])))
        if best is not None:
            return best[1]
    raise ValueError("one tile can always hold one grain of one row")


@lru_cache(maxsize=256)
def useful_cuts(amount: int, most: int) -> Ints:
    """Numbers of parts up to ``most`` of which none leaves the same largest part as a smaller one."""
    parts = np.arange(1, min(amount, most) + 1, dtype=np.int64)
    largest = ceil_divide(amount, parts)
    return parts[np.flatnonzero(np.diff(largest, prepend=largest[0] + 1))]


def _candidates(slices: Slices, columns: int, ipu: Ipu) -> _Cut:
    """A table is not cut into parts of fewer than two rows."""
    left = ipu.tiles // columns
    table = useful_cuts(slices.table_rows, min(left, -(-slices.table_rows // 2)))
    lookups = useful_cuts(slices.rows, left)
    t, n = (axis.reshape(-1) for axis in np.meshgrid(table, lookups, indexing="ij"))
    keep = t * n <= left
    t, n = t[keep], n[keep]
    grain = slices.grain(ipu)
    grains = -(-slices.row_elements // grain)
    width = np.full_like(t, -(-grains // columns) * grain)
    return _Cut(np.full_like(t, columns), t, n, width, ceil_divide(slices.table_rows, t), ceil_divide(slices.rows, n))


def _above_even(slices: Slices, held: Ints, ipu: Ipu) -> Ints:
    """Bytes that a tile holds above an even spread of the table: PopLibs counts them as if they had to be moved."""
    grain = slices.grain(ipu)
    grains = slices.table_rows * -(-slices.row_elements // grain)
    return np.maximum(0, held - -(-grains // ipu.tiles) * grain * slices.itemsize)


def _gather(slices: Slices, cut: _Cut, ipu: Ipu) -> tuple[np.ndarray, Ints]:
    """Estimated cycles and temporary bytes of a gather: broadcast of the table, slice, choice among its parts."""
    size, rate = slices.itemsize, ipu.exchange_bytes_per_cycle
    held = cut.part * cut.width * size
    moved = np.maximum(np.where(cut.lookups > 1, held, 0), _above_even(slices, held, ipu))
    each = ceil_divide(cut.seen, ipu.workers)
    hits = ceil_divide(each * cut.part, slices.table_rows)
    first = slice_cycles(hits, each - hits, cut.width, size, ipu)
    rows = ceil_divide(cut.seen, cut.table)
    chosen = cut.table * rows * cut.width * size
    each = ceil_divide(rows, ipu.workers)
    hits = ceil_divide(each * cut.part, slices.table_rows)
    grains = cut.width // slices.grain(ipu)  # PopLibs passes grains where elements are meant
    second = ceil_divide(chosen, rate) + slice_cycles(hits, each - hits, grains, size, ipu)
    split = cut.table > 1
    results = split * cut.seen * cut.width * size
    temporary = np.maximum(moved + results + cut.seen * INDEX, results + split * (chosen + rows * INDEX))
    return ceil_divide(moved, rate) + first + split * second, temporary


def _update(slices: Slices, cut: _Cut, ipu: Ipu) -> tuple[np.ndarray, Ints]:
    """Estimated cycles and temporary bytes of an update: rows to all parts of the table, adding partial tables."""
    rate = ipu.exchange_bytes_per_cycle
    held = cut.part * cut.width
    moved = _above_even(slices, held * slices.itemsize, ipu)
    rows = (cut.table > 1) * cut.seen * cut.width * SINGLE
    worker_rows = ceil_divide(cut.part, ipu.workers)
    hits = np.minimum(cut.seen, ceil_divide(cut.seen * worker_rows, slices.table_rows))
    work = update_cycles(hits, cut.seen - hits, cut.width, slices.itemsize, ipu)
    several = cut.lookups > 1
    left = ceil_divide(held, cut.lookups)
    joined = (
        fill_cycles(held, ipu) + ceil_divide(held * SINGLE, rate)
        + ipu.workers * (32 + (2 * cut.lookups + 7) * ceil_divide(ceil_divide(left, 4), ipu.workers))
        + ipu.workers * (30 + 3 * ceil_divide(ceil_divide(left, ipu.workers), 2))
    )  # fmt: skip
    cycles = 2 * ceil_divide(moved, rate) + ceil_divide(rows, rate) + work + several * joined
    temporary = moved + rows + cut.seen * INDEX + several * held * 2 * SINGLE
    return cycles, temporary


def slice_cycles(hits: Ints, misses: Ints, width: Ints, itemsize: int, ipu: Ipu) -> Ints:
    """MultiSlice on a tile whose slowest worker finds ``hits`` offsets of its share: 19 cycles and the row for a hit,
    8 for a miss; two cycles copy 8 bytes of single elements or 4 of half ones."""
    row = ceil_divide(width * itemsize, ipu.atom_bytes if itemsize == SINGLE else 4) * 2
    return ipu.workers * (30 + hits * (19 + row) + misses * 8)


def update_cycles(hits: Ints, misses: Ints, width: Ints, itemsize: int, ipu: Ipu) -> Ints:
    """MultiUpdateAdd on a tile. A worker owns a range of rows of the table, so every worker reads every offset:
    12 cycles for a hit and three for each further 4-byte atom of it, 5 for a miss."""
    atoms = ceil_divide(width * itemsize, 4)
    further = np.maximum(0, atoms - 1).astype(np.int64)
    return ipu.workers * (32 + hits * (12 + 3 * further) + misses * 5)


def fill_cycles(elements: Ints, ipu: Ipu) -> Ints:
    """Filling single elements: one 8-byte store a cycle of a worker."""
    cycles: Ints = ipu.workers * (26 + ceil_divide(ceil_divide(elements, ipu.workers), 2))
    return cycles
