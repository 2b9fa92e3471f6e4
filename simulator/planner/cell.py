"""Cells of recurrent layers: what a step of an LSTM, GRU or RNN does beside its products, as PopLibs' supersteps.

The units arrive from where the product left them, all of one state element on the tile that holds it; from then on
every tile works on its own elements. The LSTM is after popnn/Lstm.cpp of Graphcore's PopLibs; GRU and RNN are taken to
be made alike and were not compared with their source. No products here.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.elementwise import elementwise_cycles
from simulator.planner.exchange import Exchange, exchange, run_of
from simulator.planner.layout import Spread
from simulator.planner.plan import PLANS_KEPT, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, spread

Works = tuple[tuple[str, int], ...]  # (function, elements of it for each element of the state)

# supersteps of each cell, and how many elements of units and slopes arrive for each element of the state
CELLS: dict[str, tuple[int, tuple[Works, ...]]] = {
    "lstm": (
        8,
        ((("add", 4),), (("logistic", 3), ("tanh", 1)), (("mul", 2),), (("add", 1),), (("tanh", 1),), (("mul", 1),)),
    ),
    "lstm_backward": (
        2,
        (
            (("add", 1),), (("mul", 2),), (("tanh_backward", 1), ("logistic_backward", 1)), (("add", 1),),
            (("mul", 4),), (("logistic_backward", 2), ("tanh_backward", 1)),
        ),
    ),
    "gru": (
        6,
        (
            (("add", 2),), (("logistic", 2),), (("mul", 1),), (("add", 1),), (("tanh", 1),),
            (("sub", 1),), (("mul", 2),), (("add", 1),),
        ),
    ),
    "gru_backward": (
        2,
        (
            (("add", 1),), (("sub", 2),), (("mul", 3),), (("tanh_backward", 1), ("logistic_backward", 1)),
            (("mul", 2),), (("logistic_backward", 1),),
        ),
    ),
    "gru_gates": (4, ((("add", 2),), (("logistic", 2),), (("mul", 1),))),
    "gru_candidate": (2, ((("add", 1),), (("tanh", 1),), (("sub", 1),), (("mul", 2),), (("add", 1),))),
    "gru_candidate_backward": (
        2, ((("add", 1),), (("sub", 2),), (("mul", 3),), (("tanh_backward", 1),)),
    ),
    "gru_gates_backward": (1, ((("mul", 2),), (("logistic_backward", 2),))),
    "rnn": (2, ((("add", 1),), (("tanh", 1),))),
    "rnn_backward": (2, ((("add", 1),), (("tanh_backward", 1),))),
}  # fmt: skip


@lru_cache(maxsize=PLANS_KEPT)
def plan_cell(name: str, dtype: str, itemsize: int, where: Spread, ipu: Ipu) -> Plan:
    """The cell ``name`` on the elements of the state that ``where`` holds. All work of one superstep shares a tile."""
    arriving, works = CELLS[name]
    arrives = _gathered(where.elements * (arriving * itemsize), ipu)
    steps = []
    for number, work in enumerate(works):
        cycles = sum(
            (elementwise_cycles((f,), dtype, 2, where.elements * each, ipu) for f, each in work),
            np.zeros(ipu.tiles, dtype=np.int64),
        )
        steps.append(Step("+".join(f for f, _ in work), arrives if number == 0 else None, cycles))
    widest = max(each for work in works for _, each in work)
    recipe = Recipe(
        method="cell",
        steps=steps,
        outputs=where.elements,
        codelets=tuple(sorted({f"{f}-{dtype}" for work in works for f, _ in work})),
        temporary=where.elements * ((arriving + widest) * itemsize),
        flops=where.total * sum(each for work in works for _, each in work),
    )
    return assemble(recipe, ipu)


def _gathered(receive: Ints, ipu: Ipu) -> Exchange:
    total = int(receive.sum())
    return exchange(receive, spread(total, ipu.tiles, ipu.tiles, 4), piece=run_of(total, ipu), copies_bytes=total)
