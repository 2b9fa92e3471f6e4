"""Composites that stay whole: norms, softmax and losses, each as its supersteps, where their data lies.

A row (what shares statistics) may be cut over several tiles; these then join their partial sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.elementwise import elementwise_cycles, gather_operands
from simulator.planner.exchange import Exchange, exchange
from simulator.planner.layout import Spread
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.reduction import local_reduce_cycles, reduce_add_cycles, stage_depths
from simulator.planner.shares import Ints, ceil_divide, spread

FLOAT = 4  # bytes of a statistic
Foreign = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Rows:
    """A matrix of rows laid over tiles: each row is cut into ``sharing`` pieces, each on a tile of its own."""

    rows: int
    columns: int
    sharing: int
    where: Spread

    @property
    def piece(self) -> int:
        """Columns of one piece."""
        return -(-self.columns // self.sharing)

    def pieces(self) -> Ints:
        """Pieces of rows on each tile. Shape [tiles]."""
        return ceil_divide(self.where.elements, self.piece)


def rows_of(rows: int, columns: int, across: int, where: Spread) -> Rows:
    """Rows as ``where`` holds them: cut ``across`` times, and at least so often that no piece exceeds a tile."""
    held = max(1, int(where.elements.max()))
    cut = max(across, -(-columns // held))
    return Rows(rows, columns, max(1, min(cut, columns, max(1, where.used))), where)


@lru_cache(maxsize=PLANS_KEPT)
def plan_norm(
    name: str, rows: int, columns: int, across: int, dtype: str, where: Spread, foreign: Foreign, ipu: Ipu
) -> Plan:
    """Sums of a row and their join, the inverse deviation, then the slope or the whitened value of every element.

    A root-mean-square norm takes no mean: one sum, and no subtraction of it.
    """
    matrix = rows_of(rows, columns, across, where)
    centred = not name.startswith("rms_norm")
    sums = local_reduce_cycles(matrix.piece, matrix.pieces(), dtype == "float16", ipu)
    names = ("sums", "sums of products") if centred else ("sums of products",)
    arriving = [gather_operands(where, foreign, ipu), *[None] * (len(names) - 1)]
    steps = [Step(each, moved, sums, Part.REDUCE) for each, moved in zip(names, arriving, strict=True)]
    steps += join(matrix, len(names), ipu)
    if "backward" in name:
        if centred:
            steps.append(Step("subtract means", None, _vector(("mul", "add"), dtype, where.elements, ipu)))
        steps.append(Step("scale", None, _vector(("sub", "mul"), dtype, where.elements, ipu)))
        return _whole(f"norm-{dtype}", steps, matrix, 8, ipu)
    inverse = ipu.workers * (10 + 5 * ceil_divide(matrix.pieces(), 2)) * (where.elements > 0)
    steps.append(Step("inverse deviation", None, inverse))
    if centred:
        steps.append(Step("subtract mean", None, _vector(("sub",), dtype, where.elements, ipu)))
    scale = ("mul", "add") if name.startswith("batch_norm") else ("mul",)
    steps.append(Step("scale", None, _vector(scale, dtype, where.elements, ipu)))
    return _whole(f"norm-{dtype}", steps, matrix, 8, ipu)


@lru_cache(maxsize=PLANS_KEPT)
def plan_softmax(
    name: str, rows: int, columns: int, across: int, dtype: str, where: Spread, foreign: Foreign, ipu: Ipu
) -> Plan:
    """Forward: maximum, subtract, exponent, sum, inverse, multiply. Backward: multiply, sum, subtract, multiply."""
    matrix = rows_of(rows, columns, across, where)
    arrive = gather_operands(where, foreign, ipu)
    loss = name.startswith("cross_entropy")
    make = _softmax_backward if "backward" in name else _softmax_forward
    steps = make(matrix, arrive, dtype, "log" in name, loss, ipu)
    return _whole(f"softmax-{dtype}", steps, matrix, 5, ipu)


def _softmax_forward(matrix: Rows, arrive: Exchange | None, dtype: str, log: bool, loss: bool, ipu: Ipu) -> list[Step]:
    held, pieces = matrix.where.elements, matrix.pieces()
    reduce = local_reduce_cycles(matrix.piece, pieces, dtype == "float16", ipu)
    steps = [Step("maximum", arrive, reduce, Part.REDUCE), *join(matrix, 1, ipu)]
    steps.append(Step("subtract", None, _vector(("sub",), dtype, held, ipu)))
    steps.append(Step("exponent", None, _vector(("exp",), dtype, held, ipu)))
    steps += [Step("sum", None, reduce, Part.REDUCE), *join(matrix, 1, ipu)]
    steps.append(
        Step("logarithm" if log else "inverse", None, _vector(("log" if log else "inverse",), dtype, pieces, ipu))
    )
    steps.append(Step("subtract" if log else "multiply", None, _vector(("sub" if log else "mul",), dtype, held, ipu)))
    if loss:
        each = ceil_divide(pieces, ipu.workers)
        pick = ipu.workers * (20 + 9 * (ceil_divide(each, 2) if dtype == "float16" else each)) * (held > 0)
        steps.append(Step("pick labels", _gathered(pieces * 4, ipu), pick, Part.SLICE))
    return steps


def _softmax_backward(matrix: Rows, arrive: Exchange | None, dtype: str, log: bool, loss: bool, ipu: Ipu) -> list[Step]:
    held = matrix.where.elements
    if loss:  # probabilities less the one-hot label, times the slope of the mean
        return [
            Step("subtract labels", arrive, _vector(("sub",), dtype, held, ipu)),
            Step("scale", None, _vector(("mul",), dtype, held, ipu)),
        ]
    reduce = local_reduce_cycles(matrix.piece, matrix.pieces(), dtype == "float16", ipu)
    return [
        Step("exponent" if log else "multiply", arrive, _vector(("exp" if log else "mul",), dtype, held, ipu)),
        Step("sum", None, reduce, Part.REDUCE),
        *join(matrix, 1, ipu),
        Step("multiply" if log else "subtract", None, _vector(("mul" if log else "sub",), dtype, held, ipu)),
        Step("subtract" if log else "multiply", None, _vector(("sub" if log else "mul",), dtype, held, ipu)),
    ]


def join(matrix: Rows, values: int, ipu: Ipu) -> list[Step]:
    """Add ``values`` partial sums of each row over the tiles that share it, then hand the result back to them."""
    if matrix.sharing == 1:
        return []
    steps = []
    left = matrix.pieces() * values
    for stage in stage_depths(matrix.sharing):
        left = ceil_divide(left, stage)
        work = reduce_add_cycles(stage, left, False, ipu)
        steps.append(Step("join partials", _gathered(left * (stage - 1) * FLOAT, ipu), work, Part.REDUCE))
    steps.append(Step("broadcast results", _gathered(matrix.pieces() * values * FLOAT, ipu)))
    return steps


def _gathered(receive: Ints, ipu: Ipu) -> Exchange:
    total = int(receive.sum())
    return exchange(
        receive, spread(total, ipu.tiles, ipu.tiles, 4), piece=max(4, int(receive.max())), copies_bytes=total
    )


def _vector(functions: tuple[str, ...], dtype: str, elements: Ints, ipu: Ipu) -> Ints:
    return elementwise_cycles(functions, dtype, 2, elements, ipu)


def _whole(codelet: str, steps: list[Step], matrix: Rows, operations: int, ipu: Ipu) -> Plan:
    arrived = steps[0].exchange.receive if steps[0].exchange is not None else 0
    partials = matrix.pieces() * 2 * FLOAT
    recipe = Recipe(
        method="composite",
        steps=steps,
        outputs=matrix.where.elements,
        codelets=(codelet, "reduce-add-single"),
        splits=(("sharing", matrix.sharing),),
        temporary=np.asarray(partials + arrived, dtype=np.int64),
        flops=operations * matrix.rows * matrix.columns,
    )
    return assemble(recipe, ipu)
