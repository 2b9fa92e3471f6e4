"""Lookups and updates that stay within their group, such as along the last axis: every tile works on whole groups.

Lookups in one table for all are in ``slices``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import exchange, run_of
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, ceil_divide, proportional, shares
from simulator.planner.slice_choice import INDEX, slice_cycles, update_cycles


@dataclass(frozen=True)
class Shares:
    """Of each tile: groups it works on, and of each of these the lookups, rows of the table and columns of a row."""

    held: Ints
    asked: Ints
    table: Ints
    width: Ints


@lru_cache(maxsize=PLANS_KEPT)
def plan_grouped(
    groups: int, lookups: int, row_elements: int, table_rows: int, itemsize: int, update: bool, ipu: Ipu
) -> Plan:
    """``lookups`` and ``table_rows`` are of one group. Few groups are each shared by several tiles.

    Tables and indices (and new rows, in an update) come from wherever they lie; results stay.
    """
    s = _shares(groups, lookups, row_elements, table_rows, itemsize, update, ipu)
    rows = s.held * s.asked * s.width * itemsize
    arriving = s.held * s.table * s.width * itemsize + s.held * s.asked * INDEX + (rows if update else 0)
    total = int(arriving.sum())
    sending = proportional(total // 4, np.ones_like(arriving)) * 4
    moved = exchange(arriving, sending, piece=run_of(total, ipu), copies_bytes=total)
    cycles = update_cycles if update else slice_cycles
    hits = s.asked if update else ceil_divide(s.asked, ipu.workers)
    work = s.held * cycles(hits, 0 * hits, s.width, itemsize, ipu) * (s.asked > 0)
    results = groups * (table_rows if update else lookups) * row_elements
    return assemble(
        Recipe(
            method="grouped-scatter" if update else "grouped-gather",
            steps=[Step("slice groups", moved, work, Part.SLICE)],
            outputs=proportional(results, s.held * (s.table if update else s.asked) * s.width),
            codelets=(f"multi-{'update' if update else 'slice'}-{itemsize}",),
            splits=(("groups", min(groups, ipu.tiles)),),
            temporary=arriving,
            flops=groups * lookups * row_elements if update else 0,
        ),
        ipu,
    )


def _shares(
    groups: int, lookups: int, row_elements: int, table_rows: int, itemsize: int, update: bool, ipu: Ipu
) -> Shares:
    """Tiles that share a group cut its rows first, and then the lookups, but not of an update: its sums meet."""
    sharing = max(1, ipu.tiles // groups)
    grain = max(1, ipu.atom_bytes // itemsize)
    columns = min(sharing, -(-row_elements // grain))
    pieces = 1 if update else max(1, min(sharing // columns, lookups))
    used = min(groups, ipu.tiles)

    def on_tiles(of_group: Ints) -> Ints:
        """The shares of one group's tiles, for every group in turn."""
        found = np.zeros(ipu.tiles, dtype=np.int64)
        found[: used * columns * pieces] = np.tile(of_group, used)
        return found

    held = on_tiles(np.ones(columns * pieces, dtype=np.int64))
    held[:used] = shares(groups, used) if columns * pieces == 1 else held[:used]
    return Shares(
        held=held,
        asked=on_tiles(np.repeat(shares(lookups, pieces), columns)),
        table=on_tiles(np.full(columns * pieces, table_rows, dtype=np.int64)),
        width=on_tiles(np.tile(shares(row_elements, columns, grain), pieces)),
    )
