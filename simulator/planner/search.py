"""Chooses the split of a contraction over tiles: enumerates candidates as arrays, prices each as PopLibs' planner does.

The choice sums exchange as PopLibs does, and counts the barrier of each superstep, which PopLibs leaves out; what the
hardware then takes is priced by ``grid``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.contraction import Contraction, restatements
from simulator.planner.movement import dynamic_slice_work
from simulator.planner.reduction import reduce_add_cycles, stage_table
from simulator.planner.relayout import relayout_cycles
from simulator.planner.shares import Ints, ceil_divide
from simulator.planner.vertices import Amp, amp, amp_cycles, depthwise_cycles, dot_cycles, slic_cycles
from simulator.units import Cycles, ceil_div

CANDIDATES_A_DIMENSION = 22  # a prototype measured 22 within 1.3 % of 90
MOST_OF_A_TILE = 2  # how far a bound that nothing keeps is raised
UNBOUNDED = 2**62
SLIC_CHANNELS = (1, 2, 4)  # of a group: four in and four out are done at once
SERIAL_SPLITS = (1, 2, 4, 8, 16, 32, 64)
LEAST_SERIAL_OUTPUTS = 16  # output channels of one serial step: a grain of the matrix unit


@dataclass(frozen=True)
class Split:
    """Parallel splits of one problem over tiles, and serial steps over output channels."""

    problem: Contraction
    method: str
    groups: int
    batch: int
    rows: int
    outs: int
    ins: int
    serial: int

    @property
    def tiles(self) -> int:
        return self.groups * self.batch * self.rows * self.outs * self.ins


class Sizes(Protocol):
    """Sizes of tiles, or of the fullest tile of candidates: one row each."""

    groups: Ints
    batch: Ints
    rows: Ints
    outs: Ints
    ins: Ints


@dataclass
class Worst:
    """Sizes of the fullest tile of each candidate, what it reads, and how many tiles share each operand."""

    groups: Ints
    batch: Ints
    rows: Ints
    outs: Ints
    ins: Ints
    read: Ints  # elements of the input
    input_copies: Ints
    weight_copies: Ints
    depth: Ints


@lru_cache(maxsize=4096)
def choose(problem: Contraction, ipu: Ipu, proportion: float) -> Split:
    """The cheapest split whose temporary memory is within ``proportion`` of a tile.

    Where there is none the bound is doubled, up to twice the memory of a tile, and then left out, as PopLibs does.
    """
    bound = max(1, int(proportion * ipu.bytes_per_tile))
    while bound <= MOST_OF_A_TILE * ipu.bytes_per_tile:
        found = _within(problem, ipu, bound)
        if found is not None:
            return found
        bound *= 2
    unbounded = _within(problem, ipu, UNBOUNDED)
    assert unbounded is not None
    return unbounded


def _within(problem: Contraction, ipu: Ipu, bound: int) -> Split | None:
    """The cheapest split that needs no more than ``bound`` bytes of any tile."""
    best: tuple[float, Split] | None = None
    methods = [(method, each, relayout_cycles(problem, each, ipu)) for method, each in _methods(problem)]
    for serial in SERIAL_SPLITS:
        unlimited = float("inf")  # cycles if memory did not matter: more serial steps may make such a split fit
        for method, restated, before in methods:
            if serial > 1 and serial * LEAST_SERIAL_OUTPUTS > restated.outs:
                continue
            for cycles, memory, split in _fittest(restated, method, serial, before, ipu, bound):
                unlimited = min(unlimited, cycles)
                if memory <= bound and (best is None or cycles < best[0]):
                    best = (cycles, split)
        if best is not None and best[0] <= unlimited:
            break
    return None if best is None else best[1]


def _methods(problem: Contraction) -> list[tuple[str, Contraction]]:
    found = [("amp", restated) for restated in restatements(problem)]
    if problem.ins <= 8 or problem.outs <= 2:
        found.append(("dot", problem))
    if problem.half and not problem.quarter and problem.ins == 1 and problem.outs == 1 and problem.groups > 1:
        found.append(("depthwise", problem))
    if problem.groups > 1 and _slic(problem):
        found.append(("slic", problem))
    return found


def _slic(problem: Contraction) -> bool:
    """Whether the windows of the SLIC vertex fit: half, as many channels in as out, a kernel, no dilation."""
    channels = problem.ins == problem.outs and problem.ins in SLIC_CHANNELS
    return (
        problem.half
        and not problem.quarter
        and channels
        and problem.taps > 1
        and problem.stride <= 2
        and not problem.zero_filled
    )


def _fittest(
    problem: Contraction, method: str, serial: int, before: Cycles, ipu: Ipu, limit: int
) -> list[tuple[float, float, Split]]:
    """The cheapest candidate, and the cheapest within ``limit`` if any: (cycles, bytes, split).

    ``before`` are cycles that all candidates take before the first serial step.
    """
    unit = amp(problem.half, problem.half_partials, ipu, problem.quarter)
    grid = _candidates(problem, method, unit, serial, ipu.tiles)
    worst = _worst(problem, method, unit, serial, grid)
    cycles = before + serial * price(problem, method, unit, worst, ipu)
    if serial > 1:
        sliced, written = serial_work(problem, worst, ipu)
        cycles = cycles + serial * (sliced + written // worst.depth + 2 * ipu.sync_cycles)
    memory = temporary_bytes(problem, worst)
    allowed = np.flatnonzero(memory <= limit)
    picks = [int(np.argmin(cycles))]
    if len(allowed):
        picks.append(int(allowed[np.argmin(cycles[allowed])]))
    return [
        (float(cycles[i]), float(memory[i]), _split(problem, method, serial, [int(axis[i]) for axis in grid]))
        for i in picks
    ]


def _split(problem: Contraction, method: str, serial: int, parts: list[int]) -> Split:
    groups, batch, rows, outs, ins = parts
    return Split(problem, method, groups, batch, rows, outs, ins, serial)


@lru_cache(maxsize=4096)
def useful_splits(size: int, most: int) -> Ints:
    """Splits of ``size`` grains that change the largest share: the smallest split for each share, thinned evenly."""
    largest = np.arange(1, min(size, most) + 1)
    splits = np.unique(ceil_divide(size, ceil_divide(size, largest)))
    splits = splits[splits <= most]
    if len(splits) > CANDIDATES_A_DIMENSION:
        wanted = np.geomspace(1, len(splits), CANDIDATES_A_DIMENSION).round().astype(int) - 1
        splits = splits[np.unique(wanted)]
    return splits


def grains(problem: Contraction, method: str, unit: Amp) -> tuple[int, int]:
    """Channels of input and of output that stay together."""
    if method == "amp":
        return min(unit.in_grain, problem.ins), min(unit.out_grain, problem.outs)
    if method == "slic":
        return problem.ins, problem.outs
    return 1, 1


def _candidates(problem: Contraction, method: str, unit: Amp, serial: int, tiles: int) -> tuple[Ints, ...]:
    """Columns (groups, batch, rows, outs, ins): every combination of useful splits that has no more than ``tiles``."""
    in_grain, out_grain = grains(problem, method, unit)
    sizes = (
        problem.groups,
        problem.batch,
        problem.rows,
        ceil_div(ceil_div(problem.outs, serial), out_grain),
        ceil_div(problem.ins, in_grain) if method != "depthwise" else 1,
    )
    columns: tuple[Ints, ...] = ()
    product = np.ones(1, dtype=np.int64)
    for size in sizes:
        options = useful_splits(size, tiles)
        grown = (product[:, None] * options[None, :]).reshape(-1)
        keep = grown <= tiles
        index = np.flatnonzero(keep)
        columns = (*(column[index // len(options)] for column in columns), options[index % len(options)])
        product = grown[keep]
    return columns


def _worst(problem: Contraction, method: str, unit: Amp, serial: int, grid: tuple[Ints, ...]) -> Worst:
    in_grain, out_grain = grains(problem, method, unit)
    groups, batch, rows, outs, ins = grid
    out_grains = ceil_div(ceil_div(problem.outs, serial), out_grain)
    most = (ceil_divide(problem.groups, groups), ceil_divide(problem.batch, batch), ceil_divide(problem.rows, rows))
    channels = np.minimum(problem.ins, ceil_divide(ceil_div(problem.ins, in_grain), ins) * in_grain)
    return Worst(
        *most,
        outs=np.minimum(problem.outs, ceil_divide(out_grains, outs) * out_grain),
        ins=channels,
        read=input_elements(problem, *most, channels),
        input_copies=outs,
        weight_copies=batch * rows,
        depth=ins,
    )


def vertex_cycles(
    problem: Contraction, method: str, unit: Amp, groups: Ints, batch: Ints, rows: Ints, ins: Ints, outs: Ints, ipu: Ipu
) -> Ints:
    """Cycles of the vertex on tiles of the given sizes."""
    lines = batch * rows
    width = problem.width
    if method == "slic":
        return slic_cycles(
            groups, lines, width, problem.ins, problem.row_taps, problem.kernel_width, problem.stride, ipu
        )
    if method == "depthwise":
        return depthwise_cycles(groups, lines, width, problem.taps, ipu)
    if method == "dot":
        return dot_cycles(problem.half, groups, lines, width, ins, outs, problem.taps, ipu)
    return amp_cycles(unit, groups, lines, width, ins, outs, problem.taps, ipu)


def input_elements(problem: Contraction, groups: Ints, batch: Ints, rows: Ints, ins: Ints) -> Ints:
    """Elements of the input that tiles read: the window of their rows, or its unfolded copy where that is less."""
    window = groups * batch * _lines(problem, rows) * problem.in_width * ceil_divide(ins, problem.fold)
    if problem.fold == 1:
        return window
    return np.minimum(window, groups * batch * _unfolded(problem, rows) * ins)


def _lines(problem: Contraction, rows: Ints) -> Ints:
    """Rows of the input that ``rows`` rows of the output read."""
    reach = np.ceil(rows * problem.row_step).astype(np.int64) + problem.row_halo
    return np.where(rows > 0, np.minimum(np.minimum(problem.in_rows, reach), rows * problem.row_taps), 0)


def _unfolded(problem: Contraction, rows: Ints) -> Ints:
    """Positions of the copy in which a dimension of the kernel is channels: those of the output along a dimension that
    is folded, those of the input along another."""
    if problem.fold == 1:
        return rows * problem.width
    along, within = problem.folds
    return (rows if along else _lines(problem, rows)) * (problem.width if within else problem.in_width)


def copy_cycles(problem: Contraction, elements: Ints) -> Ints:
    """On-tile rearrangement of inputs: PopLibs' 5 cycles for every four elements-worth of the copy width."""
    return ceil_divide(elements * problem.element * 5, 4 * min(8, problem.element))


def copied_elements(problem: Contraction, sizes: Sizes) -> Ints:
    """Elements that each tile rearranges before the vertex runs."""
    inputs = sizes.groups * sizes.batch * _unfolded(problem, sizes.rows) * sizes.ins
    weights = sizes.groups * problem.taps * sizes.ins * sizes.outs
    return inputs * problem.copied[0] + weights * problem.copied[1]


def price(problem: Contraction, method: str, unit: Amp, worst: Worst, ipu: Ipu) -> Ints:
    """Cycles of one serial step of each candidate, as PopLibs sums them, and of its barriers."""
    w = worst
    rate = ipu.exchange_bytes_per_cycle
    weights = w.groups * problem.taps * w.ins * w.outs
    inward = w.read * problem.element
    if problem.resident[0]:
        inward = inward - inward // w.input_copies
    paired = w.input_copies % 2 == 0
    inward = np.where(paired, ceil_divide(inward, ipu.paired_bytes_per_cycle), ceil_divide(inward, rate))
    loaded = weights * problem.element
    if problem.resident[1]:
        loaded = loaded - loaded // w.weight_copies
    cycles = inward + ceil_divide(loaded, rate)
    cycles = cycles + vertex_cycles(problem, method, unit, w.groups, w.batch, w.rows, w.ins, w.outs, ipu)
    copied = copied_elements(problem, w)
    cycles = cycles + copy_cycles(problem, copied) + ipu.superstep_cycles + ipu.sync_cycles * (copied > 0)
    return cycles + _reduction_price(problem, w, ipu)


def serial_work(problem: Contraction, sizes: Sizes, ipu: Ipu) -> tuple[Ints, Ints]:
    """Cycles of each tile, in one of several serial steps, to slice its weights and to write its outputs in place."""
    weights = sizes.groups * problem.taps * sizes.ins * sizes.outs
    outputs = sizes.groups * sizes.batch * sizes.rows * problem.width * sizes.outs
    return dynamic_slice_work(weights, problem.element, ipu), dynamic_slice_work(outputs, problem.partial, ipu)


def _reduction_price(problem: Contraction, worst: Worst, ipu: Ipu) -> Ints:
    """Adding partials in stages, and the cast of what comes out where results are of another type."""
    share = worst.groups * worst.batch * worst.rows * problem.width * worst.outs
    total = np.zeros_like(share)
    for depths in stage_table(ipu.tiles):
        stage = depths[worst.depth]
        if not stage.any():
            break
        share = ceil_divide(share, np.maximum(stage, 1))
        cycles = ceil_divide(share * (stage - 1) * problem.partial, ipu.exchange_bytes_per_cycle)
        cycles += reduce_add_cycles(stage, share, problem.partial == 2, ipu) + ipu.superstep_cycles
        total += np.where(stage > 0, cycles, 0)
    cast = cast_cycles(problem, share, ipu)
    return total + cast + ipu.sync_cycles * (cast > 0)


def cast_cycles(problem: Contraction, results: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of the cast of single partials to half results; nothing where the types are equal."""
    if problem.partial == problem.result:
        return np.zeros_like(results)
    vectors = ceil_divide(ceil_divide(results, ipu.workers), 2)
    return np.where(results > 0, ipu.workers * (26 + vectors), 0)


def temporary_bytes(problem: Contraction, worst: Worst) -> Ints:
    """Bytes of the fullest tile at its worst: operands as they are rearranged, operands beside partial sums, or partial
    sums as they join."""
    w = worst
    weights = w.groups * problem.taps * w.ins * w.outs
    partials = w.groups * w.batch * w.rows * problem.width * w.outs * problem.partial
    arrived, used = operand_elements(problem, w, w.read, weights)
    joined = np.where(w.depth > 1, 2 * partials, 0)
    return np.maximum(np.maximum(arrived * problem.element, used * problem.element + partials), joined)


def operand_elements(problem: Contraction, sizes: Sizes, read: Ints, weights: Ints) -> tuple[Ints, Ints]:
    """Elements of operands on each tile while they are rearranged, and while the vertex runs: what was rearranged is
    gone then, its copy stays (PopLibs takes the greater of both, its transforms and its convolution)."""
    copied = copied_elements(problem, sizes)
    gone = read * problem.copied[0] + weights * problem.copied[1]
    return read + weights + copied, read + weights + copied - gone
