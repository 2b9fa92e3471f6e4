"""Operators that move data: transposes, joins, pads, gathers, scatters. Views cost nothing and never come here."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import exchange, run_of
from simulator.planner.layout import Spread, linear
from simulator.planner.plan import Plan, Recipe, Step, assemble
from simulator.planner.reduction import reduce_add_cycles, stage_depths
from simulator.planner.search import useful_splits
from simulator.planner.shares import Ints, ceil_divide, shares, spread


def copy_work(amount: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of an on-tile copy of ``amount`` bytes by six workers."""
    return np.where(amount > 0, ipu.copy_call_cycles + ceil_divide(amount, ipu.copy_bytes_per_cycle), 0)


def transpose_work(amount: Ints, itemsize: int, ipu: Ipu) -> Ints:
    """Tile cycles of a partial transpose in blocks: a quarter cycle an element in half, three quarters in single."""
    elements = amount // itemsize
    cycles = 7 + ipu.workers * 29 + (ceil_divide(elements, 4) if itemsize <= 2 else ceil_divide(3 * elements, 4))
    return np.where(amount > 0, cycles, 0)


@lru_cache(maxsize=4096)
def plan_movement(op: str, elements: int, itemsize: int, ipu: Ipu) -> Plan:
    """All of the output arrives from elsewhere and is put in order; ``iota`` is written in place."""
    where = linear(elements, itemsize, ipu)
    amount = where.elements * itemsize
    if op == "iota":
        fill = np.where(amount > 0, ipu.workers * (26 + ceil_divide(ceil_divide(where.elements, ipu.workers), 2)), 0)
        steps = [Step("fill", None, fill)]
    else:
        # a tile of a transposed matrix meets one row of the grid of tiles; other moves come in the runs of one tile
        senders = int(np.sqrt(where.used)) if op == "transpose" else 1
        piece = max(4, -(-int(amount.max()) // senders))
        total = int(amount.sum())
        moved = exchange(amount, spread(total, ipu.tiles, ipu.tiles, 4), piece=piece, copies_bytes=total)
        work = transpose_work(amount, itemsize, ipu) if op == "transpose" else copy_work(amount, ipu)
        steps = [Step(op, moved, work)]
    name = op if op in ("transpose", "iota") else "copy"
    temporary = amount if op == "transpose" else np.zeros_like(amount)
    return assemble(
        Recipe("movement", steps, where.elements, (f"{name}-{itemsize}",), temporary=temporary),
        ipu,
    )


@lru_cache(maxsize=1024)
def choose_slices(rows: int, row_elements: int, table_rows: int, itemsize: int, ipu: Ipu) -> tuple[int, int, int]:
    """Splits (columns, table, lookups) of an embedding-like operator with least estimated cycles."""
    grain = max(1, ipu.atom_bytes // itemsize)
    columns = useful_splits(-(-row_elements // grain), ipu.tiles)
    table = useful_splits(table_rows, ipu.tiles)
    lookups = useful_splits(rows, ipu.tiles)
    c, t, n = (axis.reshape(-1) for axis in np.meshgrid(columns, table, lookups, indexing="ij"))
    keep = c * t * n <= ipu.tiles
    c, t, n = c[keep], t[keep], n[keep]
    width = ceil_divide(ceil_divide(row_elements, grain), c) * grain
    seen = ceil_divide(rows, n)
    found = ceil_divide(seen, t)
    cycles = seen + slice_cycles(found, seen - found, width, itemsize, ipu) + ceil_divide(found * width * itemsize, 4)
    # lookups beyond the first need their own copy of the part of the table
    cycles = cycles + np.where(n > 1, ceil_divide(ceil_divide(table_rows, t) * width * itemsize, 4), 0)
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


@lru_cache(maxsize=1024)
def plan_slices(update: bool, rows: int, row_elements: int, table_rows: int, itemsize: int, ipu: Ipu) -> Plan:
    """Gather rows of a table, or add rows into one: indices go to every tile that holds a part of the table."""
    c, t, n = choose_slices(rows, row_elements, table_rows, itemsize, ipu)
    used = c * t * n
    tile = np.arange(used)
    width = shares(row_elements, c, max(1, ipu.atom_bytes // itemsize))[tile % c]
    part = tile // c % t
    seen = shares(rows, n)[tile // (c * t)]
    found = seen // t + (part < seen % t)
    full = lambda column: np.pad(column, (0, ipu.tiles - used))  # noqa: E731
    indices = full(seen * 4)
    rows_bytes = found * width * itemsize
    if update:
        payload, work = full(seen * width * itemsize), full(update_cycles(found, seen - found, width, itemsize, ipu))
        unique = rows * row_elements * itemsize
        steps = [_brought("send updates", indices + payload, rows * 4 + unique, work, ipu)]
        steps += _joined_tables(n, full(shares(table_rows, t)[part] * width), itemsize, ipu)
        outputs = linear(table_rows * row_elements, itemsize, ipu)
        temporary = indices + payload
    else:
        replica = full(shares(table_rows, t)[part] * width * itemsize) if n > 1 else np.zeros_like(indices)
        unique = rows * 4 + (table_rows * row_elements * itemsize if n > 1 else 0)
        work = full(slice_cycles(found, seen - found, width, itemsize, ipu))
        outputs = linear(rows * row_elements, itemsize, ipu)
        results = outputs.elements * itemsize
        steps = [_brought("broadcast indices", indices + replica, unique, work, ipu)]
        steps.append(_brought("place rows", results, int(results.sum()), np.zeros_like(results), ipu))
        temporary = indices + replica + full(rows_bytes)
    return assemble(
        Recipe(
            method="scatter" if update else "gather",
            steps=steps,
            outputs=outputs.elements,
            codelets=("multi-update" if update else "multi-slice",),
            splits=(("columns", c), ("table", t), ("lookups", n)),
            temporary=temporary,
            flops=rows * row_elements if update else 0,
        ),
        ipu,
    )


def _brought(name: str, receive: Ints, unique: int, work: Ints, ipu: Ipu) -> Step:
    sends = spread(min(unique, int(receive.sum())), ipu.tiles, ipu.tiles, 4)
    piece = run_of(unique, ipu.tiles)
    return Step(name, exchange(receive, sends, piece=piece, copies_bytes=int(receive.sum())), work)


def _joined_tables(copies: int, held: Ints, itemsize: int, ipu: Ipu) -> list[Step]:
    """Add up the partial tables of tiles that saw different updates."""
    steps, left = [], held
    for stage in stage_depths(copies):
        left = ceil_divide(left, stage)
        receive = left * (stage - 1) * itemsize
        work = reduce_add_cycles(stage, left, itemsize == 2, ipu)
        steps.append(_brought("add tables", receive, int(receive.sum()), work, ipu))
    return steps


def table_spread(rows: int, row_elements: int, table_rows: int, itemsize: int, ipu: Ipu) -> Spread:
    """Where the table lies so that its splits can be read: in the tiles of the first lookup split."""
    c, t, _ = choose_slices(rows, row_elements, table_rows, itemsize, ipu)
    tile = np.arange(c * t)
    width = shares(row_elements, c, max(1, ipu.atom_bytes // itemsize))[tile % c]
    return Spread(np.pad(shares(table_rows, t)[tile // c] * width, (0, ipu.tiles - c * t)))
