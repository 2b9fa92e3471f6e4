"""Operators that work along rows: reductions, norms, softmax, pools, sorts, the fallback. Each as its supersteps."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.elementwise import elementwise_cycles, gather_operands
from simulator.planner.exchange import exchange, run_of
from simulator.planner.layout import Spread, linear
from simulator.planner.plan import Plan, Recipe, Step, assemble
from simulator.planner.reduction import local_reduce_cycles, reduce_add_cycles, stage_depths
from simulator.planner.shares import Ints, ceil_divide, shares, spread

FLOAT = 4
FALLBACK_CYCLES = 12  # a scalar loop of a worker: load, compute, store and branch, without vectors


def row_split(rows: int, columns: int, tiles: int) -> tuple[int, int]:
    """How many tiles share rows and columns: rows are kept whole where there are enough of them."""
    by_rows = min(rows, tiles)
    return by_rows, max(1, min(columns, tiles // by_rows))


class Block:
    """Rows and columns of each tile when ``rows`` x ``columns`` are split over tiles. Columns of shape [tiles]."""

    def __init__(self, rows: int, columns: int, grain: int, ipu: Ipu) -> None:
        self.by_rows, self.by_columns = row_split(rows, -(-columns // grain), ipu.tiles)
        self.used = self.by_rows * self.by_columns
        tile = np.arange(self.used)
        pad = (0, ipu.tiles - self.used)
        self.member = np.pad(tile % self.by_columns, pad)
        self.rows = np.pad(shares(rows, self.by_rows)[tile // self.by_columns], pad)
        self.columns = np.pad(shares(columns, self.by_columns, grain)[tile % self.by_columns], pad)
        self.active = np.pad(np.ones(self.used, dtype=np.int64), pad)


def _moved(receive: Ints, ipu: Ipu, piece: int = 0) -> Step:
    total = int(receive.sum())
    sends = spread(total, ipu.tiles, ipu.tiles, 4)
    return Step("", exchange(receive, sends, piece=piece or max(4, int(receive.max())), copies_bytes=total))


def join_rows(block: Block, values: int, half: bool, ipu: Ipu) -> list[Step]:
    """Add ``values`` partials a row over the tiles that share it, then hand the result back to all of them."""
    steps = []
    left = block.rows * values
    for stage in stage_depths(block.by_columns):
        left = ceil_divide(left, stage)
        moved = _moved(left * (stage - 1) * FLOAT, ipu)
        steps.append(Step("join partials", moved.exchange, reduce_add_cycles(stage, left, half, ipu)))
    if block.by_columns > 1:
        steps.append(Step("broadcast results", _moved(block.rows * values * FLOAT * block.active, ipu).exchange))
    return steps


@lru_cache(maxsize=4096)
def plan_reduce(op: str, inputs: int, outputs: int, itemsize: int, where: Spread, ipu: Ipu) -> Plan:
    """Each tile reduces what it holds, then tiles that share outputs join their partials.

    The producer's layout is taken to spread outputs over tiles first and the depth over what is left.
    """
    half = itemsize == 2
    depth = max(1, inputs // outputs)
    sharing = max(1, min(depth, where.used // min(outputs, where.used)))
    held = np.minimum(outputs, ceil_divide(where.elements * sharing, depth))
    local = ceil_divide(where.elements, np.maximum(held, 1))
    steps = [Step("reduce on tile", None, local_reduce_cycles(local, held, half, ipu))]
    if op == "cumulative":
        steps.append(Step("prefix of tiles", _moved((where.elements > 0) * FLOAT, ipu).exchange))
    result = linear(outputs, itemsize, ipu)
    left = result.elements * sharing
    for stage in stage_depths(sharing):
        left = ceil_divide(left, stage)
        moved = _moved(left * max(1, stage - 1) * FLOAT, ipu, piece=max(4, int(held.max()) * FLOAT))
        steps.append(Step("join partials", moved.exchange, reduce_add_cycles(stage, left, False, ipu)))
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


@lru_cache(maxsize=2048)
def plan_norm(name: str, rows: int, columns: int, dtype: str, itemsize: int, ipu: Ipu) -> Plan:
    """Statistics, their join over tiles, inverse deviation, whitening; backward: two sums, their join, the slope."""
    half = itemsize == 2
    block = Block(rows, columns, max(1, ipu.atom_bytes // itemsize), ipu)
    held = block.rows * block.columns
    sums = local_reduce_cycles(block.columns, block.rows, half, ipu)
    arrive = _moved(held * itemsize, ipu, piece=run_of(int(held.sum()) * itemsize, ipu.tiles))
    steps = [Step("sums", arrive.exchange, sums), Step("sums of products", None, sums)]
    steps += join_rows(block, 2, half, ipu)
    if "backward" in name:
        steps.append(Step("subtract means", None, _vector(("mul", "add"), dtype, held, ipu)))
        steps.append(Step("scale", None, _vector(("sub", "mul"), dtype, held, ipu)))
    else:
        inverse = np.where(block.rows > 0, ipu.workers * (6 + 4 + 5 * ceil_divide(block.rows, 2)), 0)
        steps.append(Step("inverse deviation", None, inverse))
        steps.append(Step("subtract mean", None, _vector(("sub",), dtype, held, ipu)))
        steps.append(Step("scale", None, _vector(("mul",), dtype, held, ipu)))
    return _composite(f"norm-{dtype}", steps, held, itemsize, 8 * rows * columns, ipu)


@lru_cache(maxsize=2048)
def plan_softmax(name: str, rows: int, columns: int, dtype: str, itemsize: int, ipu: Ipu) -> Plan:
    """Forward: maximum, subtract, exponent, sum, inverse, multiply. Backward: multiply, sum, subtract, multiply."""
    half = itemsize == 2
    block = Block(rows, columns, max(1, ipu.atom_bytes // itemsize), ipu)
    held = block.rows * block.columns
    reduce = local_reduce_cycles(block.columns, block.rows, half, ipu)
    arrive = _moved(held * itemsize, ipu, piece=run_of(int(held.sum()) * itemsize, ipu.tiles))
    if "backward" in name:
        steps = [Step("multiply", arrive.exchange, _vector(("mul",), dtype, held, ipu))]
        if not name.startswith("cross_entropy"):
            steps += [Step("sum", None, reduce), *join_rows(block, 1, half, ipu)]
            steps.append(Step("subtract", None, _vector(("sub",), dtype, held, ipu)))
        steps.append(Step("multiply", None, _vector(("mul",), dtype, held, ipu)))
    else:
        steps = [Step("maximum", arrive.exchange, reduce), *join_rows(block, 1, half, ipu)]
        steps.append(Step("subtract", None, _vector(("sub",), dtype, held, ipu)))
        steps.append(Step("exponent", None, _vector(("exp",), dtype, held, ipu)))
        steps += [Step("sum", None, reduce), *join_rows(block, 1, half, ipu)]
        steps.append(
            Step("inverse", None, _vector(("log",) if "log" in name else ("inverse",), dtype, block.rows, ipu))
        )
        steps.append(Step("multiply", None, _vector(("mul",), dtype, held, ipu)))
        if name.startswith("cross_entropy"):
            loss = ipu.workers * (20 + ceil_divide(ceil_divide(block.rows, ipu.workers), 2 if half else 1) * 9)
            steps.append(Step("pick labels", _moved(block.rows * 4, ipu).exchange, np.where(block.rows > 0, loss, 0)))
    return _composite(f"softmax-{dtype}", steps, held, itemsize, 5 * rows * columns, ipu)


def _vector(functions: tuple[str, ...], dtype: str, elements: Ints, ipu: Ipu) -> Ints:
    return elementwise_cycles(functions, dtype, 2, elements, ipu)


def _composite(codelet: str, steps: list[Step], held: Ints, itemsize: int, flops: int, ipu: Ipu) -> Plan:
    recipe = Recipe("composite", steps, held, (codelet,), temporary=held * itemsize, flops=flops, vertices=1)
    return assemble(recipe, ipu)


@lru_cache(maxsize=2048)
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


@lru_cache(maxsize=1024)
def plan_random(elements: int, itemsize: int, ipu: Ipu) -> Plan:
    """Uniform numbers where they are wanted: four cycles for each 64-bit vector."""
    where = linear(elements, itemsize, ipu)
    each = ceil_divide(ceil_divide(where.elements, ipu.workers), max(1, ipu.atom_bytes // itemsize))
    work = np.where(where.elements > 0, 4 + ipu.workers * (24 + 4 * each), 0)
    return assemble(Recipe("random", [Step("random", None, work)], where.elements, ("random",), flops=elements), ipu)


@lru_cache(maxsize=1024)
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
    steps = [Step("compare and swap", swap.exchange, work, stages)]
    temporary = where.elements * itemsize
    recipe = Recipe("sort", steps, where.elements, ("sort",), flops=rows * columns * stages, temporary=temporary)
    return assemble(recipe, ipu)


@lru_cache(maxsize=2048)
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
