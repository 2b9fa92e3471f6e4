"""Lays a chosen split over the tiles: exact bytes and cycles of each tile, ragged edges included."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.contraction import Contraction, asked_order
from simulator.planner.exchange import Exchange, exchange, run_of, together
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.reduction import reduce_add_cycles, stage_depths
from simulator.planner.relayout import relayout
from simulator.planner.search import (
    Split,
    cast_cycles,
    choose,
    copied_elements,
    copy_cycles,
    grains,
    input_elements,
    operand_elements,
    serial_work,
    vertex_cycles,
)
from simulator.planner.shares import Ints, ceil_divide, proportional, shares, spread
from simulator.planner.vertices import amp


@lru_cache(maxsize=PLANS_KEPT)
def plan_contraction(problem: Contraction, ipu: Ipu, proportion: float) -> Plan:
    """Choose a split and lay it out."""
    return lay_out(choose(problem, ipu, proportion), problem, ipu)


class Grid:
    """Sizes of every tile of a split as flat columns; ``width`` and taps are the same on all. One serial step."""

    def __init__(self, split: Split, ipu: Ipu) -> None:
        problem = split.problem
        in_grain, out_grain = grains(
            problem, split.method, amp(problem.half, problem.half_partials, ipu, problem.quarter)
        )
        axes = (
            shares(problem.groups, split.groups),
            shares(problem.batch, split.batch),
            shares(problem.rows, split.rows),
            shares(problem.ins, split.ins, in_grain),
            shares(-(-problem.outs // split.serial), split.outs, out_grain),  # last: pairs of tiles read the same input
        )
        self.used = split.tiles
        self.tiles = ipu.tiles
        self.shape = tuple(len(axis) for axis in axes)
        views = [axis.reshape([-1 if i == j else 1 for j in range(5)]) for i, axis in enumerate(axes)]
        self.groups, self.batch, self.rows, self.ins, self.outs = (
            np.broadcast_to(view, self.shape).reshape(-1) for view in views
        )
        index = np.arange(self.used)
        self.out_index = index % split.outs
        self.in_index = index // split.outs % split.ins
        self.field_index = index // (split.outs * split.ins) % (split.batch * split.rows)

    def full(self, used: Ints) -> Ints:
        """Padded with zeros to all tiles."""
        out = np.zeros(self.tiles, dtype=np.int64)
        out[: self.used] = used
        return out


def part(amount: Ints, index: Ints, parts: int) -> Ints:
    """The share number ``index`` of each ``amount`` divided over ``parts``: larger shares first, sums exact."""
    return amount // parts + (index < amount % parts)


def operand(
    amount: Ints, index: Ints, copies: int, resident: bool, grid: Grid, paired: bool, ipu: Ipu
) -> tuple[Exchange, Ints]:
    """Bring an operand to the tiles; (exchange, bytes of it that each tile owns when resident).

    ``copies`` tiles need the same ``amount`` bytes. Resident: they hold a share each and multicast it to the others.
    Else it comes from wherever it lies, evenly from all tiles, multicast once.
    """
    own = part(amount, index, copies)
    receive = amount - own if resident else amount
    everything = int(own.sum())
    if resident:
        send = own if copies > 1 else np.zeros_like(own)
        sending = grid.full(send)
    else:
        sending = spread(everything, grid.tiles, grid.tiles, 4)
    piece = run_of(everything, ipu)
    got = grid.full(receive)
    moved = exchange(
        got,
        sending,
        shared=got if paired else None,
        piece=piece,
        copies_bytes=everything * (copies - 1 if resident else copies),
    )
    return moved, grid.full(own)


def lay_out(split: Split, asked: Contraction, ipu: Ipu) -> Plan:
    """The plan of ``split``, which restates ``asked``."""
    problem = split.problem
    grid = Grid(split, ipu)
    g = grid
    read = input_elements(problem, g.groups, g.batch, g.rows, g.ins)
    weights = g.groups * problem.taps * g.ins * g.outs
    inputs, own_inputs = operand(
        read * problem.element, g.out_index, split.outs, problem.resident[0], grid, split.outs % 2 == 0, ipu
    )
    loaded, own_weights = operand(
        weights * problem.element, g.field_index, split.batch * split.rows, problem.resident[1], grid, False, ipu
    )
    unit = amp(problem.half, problem.half_partials, ipu, problem.quarter)
    vertex = vertex_cycles(problem, split.method, unit, g.groups, g.batch, g.rows, g.ins, g.outs, ipu)
    positions = g.groups * g.batch * g.rows * problem.width
    copied = copied_elements(problem, grid)
    gathered = together(inputs, loaded)
    partials = positions * g.outs
    reducing, results = reduction(problem, split, grid, partials, ipu)
    serial = [*_multiply(problem, grid, gathered, copied, vertex), *reducing, *_finish(problem, asked, results, ipu)]
    if split.serial > 1:
        sliced, written = serial_work(problem, grid, ipu)
        serial = [Step("slice", None, grid.full(sliced), Part.COPY), *serial]
        serial.append(Step("write", None, grid.full(written // max(1, split.ins)), Part.COPY))
    steps = relayout(asked, problem, ipu)
    steps += [Step(s.name, s.exchange, s.compute, s.part, split.serial) for s in serial]
    held = _held(problem, operand_elements(problem, grid, read, weights), (own_inputs, own_weights), grid)
    return assemble(
        Recipe(
            method=split.method,
            steps=steps,
            outputs=proportional(asked.outputs + asked.zero_filled, results),
            codelets=_codelets(split, problem),
            splits=_named(split),
            temporary=_temporary(*held, grid.full(partials * problem.partial), split, problem),
            flops=2 * asked.macs,
            operands=_residents(problem, own_inputs, own_weights),
        ),
        ipu,
    )


def _held(problem: Contraction, elements: tuple[Ints, Ints], own: tuple[Ints, Ints], grid: Grid) -> tuple[Ints, Ints]:
    """Bytes of operands while they are rearranged and while they are multiplied; what lies there takes no more room."""
    arrived, used = (grid.full(each * problem.element) for each in elements)
    for mine, resident, copied in zip(own, problem.resident, problem.copied, strict=True):
        arrived = arrived - mine * resident
        used = used - mine * (resident and not copied)
    return arrived, used


def _temporary(arrived: Ints, used: Ints, partials: Ints, split: Split, problem: Contraction) -> Ints:
    """Bytes at the worst moment: operands as they are rearranged, operands beside partials, or, when they are added,
    partials beside what is gathered.

    The vertex writes the operator's output itself where nothing is left to be done with partials.
    """
    if split.ins > 1:
        return np.maximum(arrived, np.maximum(used + partials, 2 * partials))
    if problem.partial == problem.result and split.serial == 1:
        return np.maximum(arrived, used)
    return np.maximum(arrived, used + partials)


def _multiply(problem: Contraction, grid: Grid, gathered: Exchange, copied: Ints, vertex: Ints) -> list[Step]:
    """Operands arrive, are rearranged where the vertex needs that, and are multiplied."""
    if not copied.any():
        return [Step("gather operands", gathered, grid.full(vertex), Part.MATRIX)]
    return [
        Step("gather operands", gathered, grid.full(copy_cycles(problem, copied)), Part.COPY),
        Step("multiply", None, grid.full(vertex), Part.MATRIX),
    ]


def reduction(problem: Contraction, split: Split, grid: Grid, partials: Ints, ipu: Ipu) -> tuple[list[Step], Ints]:
    """Steps that add the partials of the tiles that share outputs, and the outputs each tile ends with ([tiles])."""
    steps = []
    left, depth = partials, split.ins
    index = grid.in_index
    for stage in stage_depths(depth):
        share = part(left, index % stage, stage)
        receive = grid.full(share * (stage - 1) * problem.partial)
        total = int(receive.sum())
        sends = spread(total, grid.used, grid.tiles, problem.partial)
        piece = max(4, int(share.max()) * problem.partial)
        work = reduce_add_cycles(stage, share, problem.partial == 2, ipu)
        moved = exchange(receive, sends, piece=piece, copies_bytes=total)
        steps.append(Step("reduce", moved, grid.full(work), Part.REDUCE))
        left, index = share, index // stage
    return steps, grid.full(left)


def _finish(problem: Contraction, asked: Contraction, results: Ints, ipu: Ipu) -> list[Step]:
    """Cast of single partials to half results, and clearing of outputs that nothing contributes to."""
    work = cast_cycles(problem, results, ipu)
    if asked.zero_filled:
        cleared = spread(asked.zero_filled, ipu.tiles, ipu.tiles, 4)
        work += ipu.workers * (26 + ceil_divide(ceil_divide(cleared, ipu.workers), 4 if problem.half else 2))
    return [Step("finish", None, work)] if work.any() else []


def _residents(problem: Contraction, inputs: Ints, weights: Ints) -> tuple[Ints | None, Ints | None]:
    """Which tiles hold how many bytes of the resident operands, in the order of the operator that was asked for."""
    return asked_order(problem, (inputs if problem.resident[0] else None, weights if problem.resident[1] else None))


def _codelets(split: Split, problem: Contraction) -> tuple[str, ...]:
    names = [split.method if problem.taps == 1 or split.method != "amp" else "amp-nx1"]
    names += ["copy"] if any(problem.copied) else []
    names += ["reduce-add"] if split.ins > 1 else []
    names += ["cast"] if problem.partial != problem.result else []
    kind = "quarter" if problem.quarter else "half" if problem.half else "single"
    return tuple(f"{name}-{kind}" for name in names)


def _named(split: Split) -> tuple[tuple[str, int], ...]:
    """Splits by name; ``across`` is the one that cuts the output channels of the operator that was asked for."""
    names = ("groups", "batch", "rows", "outs", "ins", "serial")
    across = split.rows if "swap operands" in split.problem.transforms else split.outs
    return (*((name, getattr(split, name)) for name in names), ("across", across))
