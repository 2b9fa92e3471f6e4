"""Lookups and updates that stay within their group, such as along the last axis: every tile works on whole groups.

Lookups in one table for all are in ``slices``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import exchange, run_of
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, ceil_divide, proportional, shares
from simulator.planner.slice_choice import INDEX, slice_cycles, update_cycles


@lru_cache(maxsize=PLANS_KEPT)
def plan_grouped(
    groups: int, lookups: int, row_elements: int, table_rows: int, itemsize: int, update: bool, ipu: Ipu
) -> Plan:
    """``lookups`` and ``table_rows`` are of one group. Few groups are each shared by several tiles, by lookups.

    Tables and indices (and new rows, in an update) come from wherever they lie; results stay.
    """
    held, asked, table = _shares(groups, lookups, table_rows, ipu)
    tables, rows = held * table * row_elements * itemsize, held * asked * row_elements * itemsize
    arriving = tables + held * asked * INDEX + (rows if update else 0)
    total = int(arriving.sum())
    piece = run_of(total, ipu)
    moved = exchange(arriving, proportional(total // 4, np.ones_like(arriving)) * 4, piece=piece, copies_bytes=total)
    each, width = ceil_divide(asked, ipu.workers), np.full_like(held, row_elements)
    cycles = update_cycles if update else slice_cycles
    work = held * cycles(asked if update else each, 0 * each, width, itemsize, ipu) * (asked > 0)
    result = table if update else asked
    results = groups * (table_rows if update else lookups) * row_elements
    return assemble(
        Recipe(
            method="grouped-scatter" if update else "grouped-gather",
            steps=[Step("slice groups", moved, work, Part.SLICE)],
            outputs=proportional(results, held * result),
            codelets=(f"multi-{'update' if update else 'slice'}-{itemsize}",),
            splits=(("groups", min(groups, ipu.tiles)),),
            temporary=arriving,
            flops=groups * lookups * row_elements if update else 0,
        ),
        ipu,
    )


def _shares(groups: int, lookups: int, table_rows: int, ipu: Ipu) -> tuple[Ints, Ints, Ints]:
    """Groups on each tile, and of each of these the lookups and the rows of the table. Shape [tiles]."""
    if groups >= ipu.tiles:
        held = np.array(shares(groups, ipu.tiles))
        return held, np.full_like(held, lookups), np.full_like(held, table_rows)
    sharing = min(ipu.tiles // groups, lookups)
    used = groups * sharing
    held = np.zeros(ipu.tiles, dtype=np.int64)
    held[:used] = 1
    asked = np.zeros(ipu.tiles, dtype=np.int64)
    asked[:used] = np.tile(shares(lookups, sharing), groups)
    return held, asked, np.full(ipu.tiles, table_rows, dtype=np.int64) * held
