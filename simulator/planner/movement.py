"""Operators that move data: transposes, joins, pads. Views cost nothing and never come here."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import exchange
from simulator.planner.layout import linear
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, ceil_divide, spread

DYNAMIC = ("dynamic_slice", "dynamic_update_slice")  # where to cut is known only when it runs


def copy_work(amount: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of an on-tile copy of ``amount`` bytes by six workers.

    Measured: 288 for the call and 1,308 for 8 KiB, that is six workers of 170 vectors each: what does not divide by
    six lies within the call.
    """
    each = ceil_divide(amount, ipu.copy_bytes_per_cycle) // ipu.workers
    return np.where(amount > 0, ipu.copy_call_cycles + ipu.workers * each, 0)


def dynamic_slice_work(elements: Ints, itemsize: int, ipu: Ipu) -> Ints:
    """Tile cycles of DynamicSlice1D (PopLibs): two cycles for four half or two single elements of a worker."""
    each = ceil_divide(elements, ipu.workers)
    vectors = ceil_divide(each, 4 if itemsize <= 2 else 2)
    return np.where(elements > 0, 25 + ipu.workers * (39 + 24 + 2 * vectors), 0)


def transpose_work(amount: Ints, itemsize: int, ipu: Ipu) -> Ints:
    """Tile cycles of a partial transpose in blocks: a quarter cycle an element in half, three quarters in single."""
    elements = amount // itemsize
    cycles = 7 + ipu.workers * 29 + (ceil_divide(elements, 4) if itemsize <= 2 else ceil_divide(3 * elements, 4))
    return np.where(amount > 0, cycles, 0)


def _work(op: str, elements: Ints, itemsize: int, ipu: Ipu) -> Ints:
    if op in DYNAMIC:
        return dynamic_slice_work(elements, itemsize, ipu)
    return (
        transpose_work(elements * itemsize, itemsize, ipu) if op == "transpose" else copy_work(elements * itemsize, ipu)
    )


@lru_cache(maxsize=PLANS_KEPT)
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
        steps = [Step(op, moved, _work(op, where.elements, itemsize, ipu), Part.COPY)]
    name = op if op in ("transpose", "iota") else "dynamic-slice" if op in DYNAMIC else "copy"
    temporary = amount if op == "transpose" else np.zeros_like(amount)
    return assemble(
        Recipe("movement", steps, where.elements, (f"{name}-{itemsize}",), temporary=temporary),
        ipu,
    )
