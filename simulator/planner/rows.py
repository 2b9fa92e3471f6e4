"""Reductions, pools, random numbers, sorts and the fallback, each as its supersteps."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.elementwise import gather_operands
from simulator.planner.exchange import exchange
from simulator.planner.layout import Spread, linear
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.reduction import local_reduce_cycles, reduce_add_cycles, stage_depths
from simulator.planner.shares import Ints, ceil_divide, spread

FLOAT = 4
FALLBACK_CYCLES = 12  # a scalar loop of a worker: load, compute, store and branch, without vectors


def _moved(receive: Ints, ipu: Ipu, piece: int = 0) -> Step:
    total = int(receive.sum())
    sends = spread(total, ipu.tiles, ipu.tiles, 4)
    return Step("", exchange(receive, sends, piece=piece or max(4, int(receive.max())), copies_bytes=total))


@lru_cache(maxsize=PLANS_KEPT)
def plan_reduce(sharing: int, op: str, inputs: int, outputs: int, itemsize: int, where: Spread, ipu: Ipu) -> Plan:
    """Each tile reduces what it holds, then the ``sharing`` tiles of an output join their partials.

    0: unknown; the producer is then taken to spread outputs over tiles first and the depth over what is left.
    """
    half = itemsize == 2
    depth = max(1, inputs // outputs)
    sharing = min(depth, sharing or max(1, where.used // min(outputs, where.used)))
    held = np.minimum(outputs, ceil_divide(where.elements * sharing, depth))
    local = ceil_divide(where.elements, np.maximum(held, 1))
    steps = [Step("reduce on tile", None, local_reduce_cycles(local, held, half, ipu), Part.REDUCE)]
    if op == "cumulative":
        steps.append(Step("prefix of tiles", _moved((where.elements > 0) * FLOAT, ipu).exchange))
    result = linear(outputs, itemsize, ipu)
    steps += _joined(held, result.elements, sharing, ipu)
    return assemble(
        Recipe(
            method="reduce",
            steps=steps,
            outputs=result.elements,
            codelets=("reduce-half" if half else "reduce-single",),
            splits=(("sharing", sharing),),
            temporary=held * FLOAT,
            flops=inputs,
        ),
        ipu,
    )


def _joined(held: Ints, result: Ints, sharing: int, ipu: Ipu) -> list[Step]:
    """Add up what ``sharing`` tiles hold of each output: early stages where it lies, the last where the result goes."""
    depths, steps, left = stage_depths(sharing), [], held
    for stage in depths[:-1]:
        left = ceil_divide(left, stage)
        moved = _moved(left * (stage - 1) * FLOAT, ipu, piece=max(4, int(left.max()) * FLOAT))
        steps.append(Step("join partials", moved.exchange, reduce_add_cycles(stage, left, False, ipu), Part.REDUCE))
    for stage in depths[-1:]:
        moved = _moved(result * stage * FLOAT, ipu, piece=max(4, int(left.max()) * FLOAT))
        steps.append(Step("join partials", moved.exchange, reduce_add_cycles(stage, result, False, ipu), Part.REDUCE))
    return steps


@lru_cache(maxsize=PLANS_KEPT)
def plan_pool(outputs: int, window: int, backward: bool, itemsize: int, ipu: Ipu) -> Plan:
    """Three cycles for every vector and window element (five backward); inputs with their halo arrive first."""
    where = linear(outputs, itemsize, ipu)
    vectors = ceil_divide(where.elements, 4 if itemsize == 2 else 2)
    each = ceil_divide(vectors, ipu.workers)
    worker = 63 + each * ((7 + 5 * window) if backward else (4 + 3 * window))
    arrive = _moved(where.elements * itemsize * min(window, 4), ipu, piece=max(4, int(where.elements.max()) * itemsize))
    steps = [Step("pool", arrive.exchange, np.where(where.elements > 0, 13 + ipu.workers * worker, 0))]
    recipe = Recipe(
        "pool", steps, where.elements, (f"pool-{itemsize}",), flops=outputs * window, temporary=arrive_bytes(arrive)
    )
    return assemble(recipe, ipu)


def arrive_bytes(step: Step) -> Ints:
    """Bytes that the exchange of ``step`` leaves on each tile."""
    assert step.exchange is not None
    return step.exchange.receive


@lru_cache(maxsize=PLANS_KEPT)
def plan_random(elements: int, itemsize: int, ipu: Ipu) -> Plan:
    """Uniform numbers where they are wanted: four cycles for each 64-bit vector."""
    where = linear(elements, itemsize, ipu)
    each = ceil_divide(ceil_divide(where.elements, ipu.workers), max(1, ipu.atom_bytes // itemsize))
    work = np.where(where.elements > 0, 4 + ipu.workers * (24 + 4 * each), 0)
    return assemble(Recipe("random", [Step("random", None, work)], where.elements, ("random",), flops=elements), ipu)


@lru_cache(maxsize=PLANS_KEPT)
def plan_sort(rows: int, columns: int, itemsize: int, ipu: Ipu) -> Plan:
    """Bitonic sort of each row: log2 squared stages of exchange, compare and swap, eleven cycles a pair."""
    where = linear(rows * columns, itemsize, ipu)
    doublings = max(1, (columns - 1).bit_length())
    stages = doublings * (doublings + 1) // 2
    pairs = ceil_divide(ceil_divide(where.elements, 2), ipu.workers)
    work = np.where(where.elements > 0, ipu.workers * (34 + 11 * pairs) + 19, 0)
    swap = _moved(
        where.elements * itemsize if columns > int(where.elements.max()) else where.elements * 0, ipu, piece=0
    )
    steps = [Step("compare and swap", swap.exchange, work, times=stages)]
    temporary = where.elements * itemsize
    recipe = Recipe("sort", steps, where.elements, ("sort",), flops=rows * columns * stages, temporary=temporary)
    return assemble(recipe, ipu)


@lru_cache(maxsize=PLANS_KEPT)
def plan_fallback(op: str, elements: int, itemsize: int, foreign: tuple[tuple[int, int], ...], ipu: Ipu) -> Plan:
    """An operator that nothing better is known of: all operands arrive, then a scalar loop over the elements."""
    where = linear(elements, itemsize, ipu)
    work = ipu.workers * (30 + FALLBACK_CYCLES * ceil_divide(where.elements, ipu.workers)) * (where.elements > 0)
    moved = gather_operands(where, foreign, ipu)
    temporary = None if moved is None else moved.receive
    recipe = Recipe(
        "fallback", [Step(op, moved, work)], where.elements, ("fallback",), temporary=temporary, modelled=False
    )
    return assemble(recipe, ipu)
