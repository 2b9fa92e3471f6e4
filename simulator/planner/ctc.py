"""CTC loss as PopLibs plans and runs it: frames and tokens cut over tiles, a superstep for every frame.

From popnn's CTCLossPlan.cpp and PerformanceEstimation.hpp (public, MIT): alpha and beta run over the frames from both
ends until they meet (half of the frames in steps), then both go on and make the slope (the other half). A sample of a
tile takes one worker, six contexts whatever is used; every tile holds, for its frames, the classes of the tokens and
the blank, and a slope of them in float32 (the option enableReducedClassesInLabel, which Graphcore's Conformer sets in
training). The slope of all other classes is nothing. The numbers are in ``composites/ctc.py``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.elementwise import elementwise_cycles
from simulator.planner.exchange import Exchange, exchange
from simulator.planner.layout import Spread
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.reduction import reduce_add_cycles
from simulator.planner.shares import spread

FLOAT = 4
LOG_ADD, LOG_MULTIPLY = 16, 1  # cycles of one worker
# of one token and its blank at one frame: four words read and written for each, two sums and products, a comparison
ADVANCE = 8 + 2 * LOG_ADD + 2 * LOG_MULTIPLY + 2
SLOPE = 6 + 2 * (LOG_ADD + LOG_MULTIPLY)  # on top of it, where the slope is made
LAST_BLANK = LOG_ADD + LOG_MULTIPLY
SHARE = 0.6  # of a tile's memory that a plan may take (its option availableMemoryProportion)


@lru_cache(maxsize=PLANS_KEPT)
def plan_ctc(batch: int, frames: int, tokens: int, classes: int, itemsize: int, where: Spread, ipu: Ipu) -> Plan:
    """``batch`` samples of ``frames`` frames against ``tokens`` tokens; the slope goes back to where the scores lie."""
    at_once = max(1, -(-batch // ipu.tiles))  # samples of one tile
    parts = -(-batch // at_once)
    named = min(classes, tokens + 1)
    long, cuts = _cut(frames, tokens, named, itemsize, at_once, max(1, ipu.tiles // parts), ipu)
    across, wide = -(-frames // long), -(-tokens // cuts)
    used = min(ipu.tiles, parts * across * cuts)
    rounds = -(-at_once // ipu.workers)
    half = -(-long * (across + across % 2) // 2)
    held = at_once * long * named
    column = FLOAT * at_once * (2 * wide + 1)
    steps = [
        Step("scores of a tile's frames", _to(used, held * itemsize, ipu), None),
        Step("alpha and beta", _to(used, column, ipu), _each(used, rounds * (ADVANCE * wide + LAST_BLANK), ipu),
             times=half),
        Step("slope", _to(used, 2 * column, ipu),
             _each(used, rounds * ((ADVANCE + SLOPE) * wide + 2 * LAST_BLANK), ipu), times=half),
    ]  # fmt: skip
    if cuts > 1:
        share = -(-held // cuts)
        joined = reduce_add_cycles(cuts, spread(used * share, used, ipu.tiles), False, ipu)
        steps.append(Step("join tokens", _to(used, (cuts - 1) * share * FLOAT, ipu), joined, Part.REDUCE))
    steps.append(Step("nothing elsewhere", None, elementwise_cycles(("mul",), _type(itemsize), 1, where.elements, ipu)))
    receive = -(-where.elements * named // classes) * itemsize
    total = int(receive.sum())
    back = exchange(receive, spread(total, used, ipu.tiles), piece=max(4, -(-total // used)), copies_bytes=total)
    steps.append(Step("hand back", back))
    recipe = Recipe(
        method="composite",
        steps=steps,
        outputs=where.elements,
        codelets=("ctc-alpha", "ctc-beta", "ctc-slope-alpha", "ctc-slope-beta"),
        splits=(("samples", parts), ("frames", across), ("tokens", cuts)),
        temporary=spread(used * (held * (itemsize + FLOAT) + long * column), used, ipu.tiles),
        flops=batch * frames * tokens * 40,
    )
    return assemble(recipe, ipu)


def _cut(frames: int, tokens: int, named: int, itemsize: int, at_once: int, tiles: int, ipu: Ipu) -> tuple[int, int]:
    """Frames of one tile and the cuts of the tokens: as many cuts as tiles allow, since only they make steps short."""
    room = SHARE * ipu.bytes_per_tile
    legal = [
        long for long in range(1, frames + 1)
        if at_once * long * named * (itemsize + FLOAT) <= room and -(-frames // long) <= tiles
    ] or [max(1, -(-frames // tiles))]  # fmt: skip
    best = min(legal, key=lambda long: (_longest(tokens, tiles // -(-frames // long)), long))
    wide = _longest(tokens, tiles // -(-frames // best))
    return best, -(-tokens // wide)


def _type(itemsize: int) -> str:
    return "float16" if itemsize == 2 else "float32"


def _longest(tokens: int, cuts: int) -> int:
    return -(-tokens // max(1, min(tokens, cuts)))


def _to(used: int, amount: int, ipu: Ipu) -> Exchange:
    """``amount`` bytes to each of the tiles in use."""
    share = spread(used * amount, used, ipu.tiles)
    return exchange(share, share, piece=max(4, amount), copies_bytes=used * amount)


def _each(used: int, cycles: int, ipu: Ipu) -> np.ndarray:
    return spread(used * ipu.workers * cycles, used, ipu.tiles)
