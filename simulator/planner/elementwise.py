"""Element-wise operators, single or fused, where their data lies. Costs come from ``machines/codelets.csv``."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange, exchange, run_of, together
from simulator.planner.layout import Spread
from simulator.planner.plan import PLANS_KEPT, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, ceil_divide, spread

# primitives that run as another codelet
SAME_CODELET = {
    "add_any": "add", "convert_element_type": "cast", "bitcast_convert_type": "cast", "real": "cast",
    "select_n": "select", "integer_pow": "square", "erfc": "erf", "acos": "asin", "nextafter": "add",
    "stochastic_round": "cast",
}  # fmt: skip
# primitives without a codelet of their own, priced as the dearest general one and listed in the report's coverage
UNKNOWN_AS = "pow"
DTYPES = {"bfloat16": "float16", "float64": "float32", "bool": "bool", "float16": "float16", "float32": "float32"}


@dataclass(frozen=True)
class Codelet:
    """``elements`` a loop of ``cycles``; start-up cycles of a worker and of the supervisor."""

    elements: int
    cycles: int
    worker: int
    supervisor: int


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str, str], Codelet]:
    text = files("simulator.machines").joinpath("codelets.csv").read_text("utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {
        (row["form"], row["function"], row["dtype"]): Codelet(
            int(row["elements"]), int(row["cycles"]), int(row["worker"]), int(row["supervisor"])
        )
        for row in rows
    }


def known(function: str) -> bool:
    """Whether some codelet computes ``function``."""
    name = SAME_CODELET.get(function, function)
    return any(
        (form, name, dtype) in _table() for form in ("unary", "binary") for dtype in ("float32", "int32", "bool")
    )


@lru_cache(maxsize=1024)
def codelet(function: str, dtype: str, arity: int) -> Codelet:
    """The codelet of ``function`` on ``dtype``; a binary one with a scalar operand has a cheaper form."""
    name = SAME_CODELET.get(function, function)
    if not known(function):
        name = UNKNOWN_AS
    forms = ("unary", "binary") if arity > 1 else ("unary", "scalar", "binary")
    for kind in (DTYPES.get(dtype, "int32"), "float32", "int32", "bool"):
        for form in forms:
            found = _table().get((form, name, kind))
            if found is not None:
                return found
    raise KeyError(function)


def elementwise_cycles(functions: tuple[str, ...], dtype: str, arity: int, elements: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of a chain fused into one codelet: loads and stores are paid once, by the first function."""
    each = ceil_divide(elements, ipu.workers)
    first = codelet(functions[0], dtype, arity)
    worker = first.worker + ceil_divide(each, first.elements) * first.cycles
    for function in functions[1:]:
        more = codelet(function, dtype, arity)
        worker = worker + ceil_divide(each, more.elements) * max(1, more.cycles - 1)
    return np.where(elements > 0, ipu.workers * worker + first.supervisor, 0)


@lru_cache(maxsize=PLANS_KEPT)
def plan_elementwise(
    functions: tuple[str, ...], dtype: str, arity: int, where: Spread, foreign: tuple[tuple[int, int], ...], ipu: Ipu
) -> Plan:
    """Run the chain where ``where`` has its elements. ``foreign``: (elements, itemsize) of operands elsewhere."""
    moved = gather_operands(where, foreign, ipu)
    work = elementwise_cycles(functions, dtype, arity, where.elements, ipu)
    temporary = np.zeros(ipu.tiles, dtype=np.int64) if moved is None else moved.receive
    return assemble(
        Recipe(
            method="element-wise",
            steps=[Step("+".join(functions[:4]), moved, work)],
            outputs=where.elements,
            codelets=("+".join(functions) + "-" + dtype,),
            temporary=temporary,
            flops=where.total * len(functions),
            modelled=all(known(function) for function in functions),
        ),
        ipu,
    )


def gather_operands(where: Spread, foreign: tuple[tuple[int, int], ...], ipu: Ipu) -> Exchange | None:
    """Bring operands that lie elsewhere: a tile gets what matches its elements, or all of a broadcast."""
    found: Exchange | None = None
    for elements, itemsize in foreign:
        receive = np.minimum(where.elements, elements) * itemsize
        unique = min(int(receive.sum()), elements * itemsize)
        sends = spread(unique, ipu.tiles, ipu.tiles, 4)
        piece = run_of(unique, ipu)
        one = exchange(receive, sends, piece=piece, copies_bytes=int(receive.sum()))
        found = one if found is None else together(found, one)
    return found
