"""Adding partial results of several tiles: stages, cycles, exchange. How many partials there are is not its choice."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.facts import whole
from simulator.machines.ipu import Ipu
from simulator.planner.shares import Ints, ceil_divide


def stages(depth: int) -> int:
    """Stages that PopLibs uses for ``depth`` partials of each output; more stages need less exchange code."""
    if depth <= 1:
        return 0
    if depth < whole("planner.reduce_two_stages_from"):
        return 1
    return 2 if depth < whole("planner.reduce_three_stages_from") else 3


@lru_cache(maxsize=4096)
def stage_depths(depth: int) -> tuple[int, ...]:
    """Partials added in each stage: equal factors, rounded up, the last takes what is left."""
    left, depths = depth, []
    for remaining in range(stages(depth), 0, -1):
        factor = min(left, int(np.ceil(round(left ** (1 / remaining), 9))))
        depths.append(factor)
        left = -(-left // factor)
    return tuple(depths)


@lru_cache(maxsize=8)
def stage_table(most: int) -> Ints:
    """``stage_depths`` of every depth up to ``most``, 0 where there is no such stage. Shape [3, most + 1]."""
    found = np.zeros((3, most + 1), dtype=np.int64)
    for depth in range(2, most + 1):
        depths = stage_depths(depth)
        found[: len(depths), depth] = depths
    found.setflags(write=False)
    return found


def reduce_add_cycles(depth: Ints | int, outputs: Ints, half: bool, ipu: Ipu) -> Ints:
    """Tile cycles of ReduceAdd: vectors of 8 half or 4 single accumulators, three cycles a partial (PopLibs)."""
    vector, overhead = (8, 9) if half else (4, 7)
    vectors = ceil_divide(ceil_divide(outputs, vector), ipu.workers)
    cycles = ipu.workers * (32 + (3 * np.asarray(depth) + overhead) * vectors)
    return np.where(outputs > 0, cycles, 0)


def local_reduce_cycles(depth: Ints | int, outputs: Ints, half: bool, ipu: Ipu) -> Ints:
    """Tile cycles of a strided reduction of data already on the tile: one cycle a vector of 4 half or 2 single."""
    vector, post = (4, 8) if half else (2, 5)
    vectors = ceil_divide(outputs, vector)
    deep = np.asarray(depth)
    # outputs are shared by the workers; a few deep outputs are cut along the depth instead and joined by one worker
    wide = 16 + ceil_divide(vectors, ipu.workers) * (6 + post + deep)
    narrow = 16 + vectors * (6 + post + ceil_divide(deep, ipu.workers)) + 16 + vectors * (6 + post + ipu.workers)
    return np.where(outputs > 0, 7 + ipu.workers * np.minimum(wide, narrow), 0)
