"""Cycles of the matrix vertices on one tile (AMP, SLIC, dot product, depthwise), of candidates and of tiles alike.

Formulas restate the cycle estimators of PopLibs (poplin PerformanceEstimation, SDK 3.3): documented, not measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.shares import Ints, ceil_divide


@dataclass(frozen=True)
class Amp:
    """How the matrix unit works for a pair of types. ``passes`` x ``units`` output channels make a grain."""

    in_grain: int
    out_grain: int
    units: int
    cycles_per_position: int
    worker_start: int  # worker cycles = start + cycles_per_position * positions, from three positions on
    worker_few: tuple[int, int, int]  # cycles for none, one, two positions

    @property
    def passes(self) -> int:
        return self.out_grain // self.units


@lru_cache(maxsize=64)
def amp(half: bool, half_partials: bool, ipu: Ipu, quarter: bool = False) -> Amp:
    """64 MACs a cycle in half with half partials, 32 with single partials, 16 in single; 32, 32 and 8 on a GC2.

    ``quarter``: operands of 8 bits and half partials, 128 MACs a cycle where the chip has them.
    """
    if quarter:
        return Amp(32, 16, ipu.whole("amp.units_quarter"), 4, 32, (21, 35, 40))
    units = ipu.amp_units(half, half_partials)
    if not half:
        return Amp(8, 16, units, 8, 22, (24, 47, 46))
    if half_partials and units < 16:  # the 8-unit codelet from half to half keeps no state between blocks
        return Amp(16, 16, units, 4, 29, (22, 33, 42))
    return Amp(16, 16, units, 4, 19, (15, 26, 35))


def worker_cycles(unit: Amp, positions: Ints) -> Ints:
    """Cycles of one worker context for ``positions`` field positions of one block."""
    few = np.array(unit.worker_few, dtype=np.int64)[np.minimum(positions, 2)]
    return np.where(positions >= 3, unit.worker_start + unit.cycles_per_position * positions, few)


def block_cycles(unit: Amp, positions: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of one block of weights over ``positions``: weight load, six workers, the slowest counts."""
    slowest = worker_cycles(unit, ceil_divide(positions, ipu.workers))
    load = ipu.weight_load_cycles * unit.units // 16
    return 6 + load + ipu.workers * slowest


def amp_cycles(
    unit: Amp, groups: Ints, rows: Ints, width: Ints | int, ins: Ints, outs: Ints, taps: int, ipu: Ipu
) -> Ints:
    """Tile cycles of a whole AMP vertex; ``rows`` x ``width`` positions, ``ins`` and ``outs`` channels, unpadded.

    One tap is the 1x1 vertex; more is the nx1 vertex, whose workers pay for every row of the field they touch.
    """
    blocks_in = ceil_divide(ins, unit.in_grain)
    blocks_out = ceil_divide(outs, unit.out_grain)
    positions = rows * width
    if taps == 1:
        block = 19 + unit.passes * block_cycles(unit, positions, ipu)
        retained = 50 + ipu.workers * (7 + 3 * (blocks_in * groups - 1))
        cycles = retained + groups * (24 + blocks_in * (15 + blocks_out * block))
    else:
        load = ipu.weight_load_cycles * unit.units // 16
        each = ceil_divide(positions, ipu.workers)
        worker = 18 + ceil_divide(rows, ipu.workers) * 16 + unit.cycles_per_position * each
        tap = 12 + unit.passes * (load + 18 + ipu.workers * worker)
        cycles = 223 + groups * (16 + blocks_in * (14 + blocks_out * (14 + 14 + taps * tap)))
    return np.where((positions > 0) & (ins > 0) & (outs > 0) & (groups > 0), cycles, 0)


def dot_cycles(
    half: bool, groups: Ints, rows: Ints, width: Ints | int, ins: Ints, outs: Ints, taps: int, ipu: Ipu
) -> Ints:
    """Tile cycles of the dot-product vertex (HMAC): 4 half or 2 single MACs a cycle of a worker."""
    dot = 7 + ceil_divide(ins, 4 if half else 2)
    each = ceil_divide(rows * width, ipu.workers)
    worker = 32 + taps * (ceil_divide(rows, ipu.workers) * 19 + each * (7 + outs * dot))
    cycles = 118 + groups * (48 + ipu.workers * worker)
    return np.where((rows * width > 0) & (ins > 0) & (outs > 0) & (groups > 0), cycles, 0)


def depthwise_cycles(groups: Ints, rows: Ints, width: Ints | int, taps: int, ipu: Ipu) -> Ints:
    """Tile cycles of the depthwise vertex (VMAC, half only): 3 cycles a kernel element for eight groups."""
    bundles = ceil_divide(groups, 8)
    each = ceil_divide(rows * width, ipu.workers)
    worker = 25 + ceil_divide(rows, ipu.workers) * 22 + each * (22 + 3 * taps)
    cycles = 100 + bundles * (56 + ipu.workers * worker)
    return np.where((rows * width > 0) & (groups > 0), cycles, 0)


def slic_cycles(
    groups: Ints, rows: Ints, width: Ints | int, channels: int, row_taps: int, kernel_width: int, stride: int, ipu: Ipu
) -> Ints:
    """Tile cycles of the SLIC vertex (half only): windows of 1 x 4 over four channels, in and out.

    Two passes over the positions, one cycle each (two where the stride is two); one worker takes whole rows.
    """
    blocks = ceil_divide(groups * channels, 4)
    pieces = ceil_divide(np.maximum(rows, 1), ipu.workers)
    length = ceil_divide(rows * width, ipu.workers * pieces)
    row = 10 + 15 + (np.maximum(length - 5, 0) if stride == 1 else 2 * np.maximum(length - 3, 0))
    worker = 19 + pieces * row
    load = 16 + (18 if channels == 4 else 9 + 6 + ipu.workers * 12 + 6)
    windows = row_taps * (-(-kernel_width // 4))
    cycles = 100 + blocks * windows * (load + 2 * ipu.workers * worker)
    return np.where((rows * width > 0) & (groups > 0), cycles, 0)
