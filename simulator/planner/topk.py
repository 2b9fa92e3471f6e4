"""The largest of every row, as PopLibs' bitonic top-k finds them: runs sorted apart, then halved by merges."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange, exchange
from simulator.planner.layout import Spread, linear, scaled
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, ceil_divide, spread


def stages(columns: int, kept: int) -> tuple[tuple[int, int], ...]:
    """(elements of a row that take part, comparisons of each with one at a distance) of every stage.

    Runs of ``kept`` elements, rounded up to a power of two, are sorted; then pairs of runs keep their larger half and
    put it in order, until one run is left.
    """
    doublings = max(0, (kept - 1).bit_length())
    run = 1 << doublings
    found = [(columns, doublings * (doublings + 1) // 2)] if doublings else []
    while columns > run:
        found.append((columns, 1))
        columns = -(-columns // (2 * run)) * run
        if doublings:
            found.append((columns, doublings))
    return tuple(found)


@lru_cache(maxsize=PLANS_KEPT)
def plan_topk(rows: int, columns: int, kept: int, itemsize: int, ipu: Ipu) -> Plan:
    """Values and their indices: elements lie in order over the tiles, and come together where runs cross tiles."""
    where = linear(rows * columns, itemsize, ipu)
    steps = []
    for taking, times in stages(columns, kept):
        part = scaled(rows * taking, where)
        pairs = ceil_divide(ceil_divide(part.elements, 2), ipu.workers)
        work = np.where(part.elements > 0, ipu.workers * (34 + 11 * pairs) + 19, 0)
        halving = times == 1 and taking > kept
        moved = _crossing(part, itemsize, ipu) if halving else None
        steps.append(Step("keep larger half" if halving else "order runs", moved, work, Part.VECTOR, times))
    outputs = linear(rows * kept, itemsize, ipu)
    temporary = where.elements * (itemsize + 4)
    recipe = Recipe("top-k", steps, outputs.elements, ("top-k",), flops=rows * columns, temporary=temporary)
    return assemble(recipe, ipu)


def _crossing(part: Spread, itemsize: int, ipu: Ipu) -> Exchange:
    """Half of the values and indices meet those of another tile."""
    amount: Ints = part.elements // 2 * (itemsize + 4)
    total = int(amount.sum())
    return exchange(amount, spread(total, ipu.tiles, ipu.tiles, 4), piece=max(4, int(amount.max())), copies_bytes=total)
