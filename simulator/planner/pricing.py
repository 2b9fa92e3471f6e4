"""What a plan costs under given constants: it is counted once, as whole cycles of each part; a price is a product.

Plans are chosen with documented numbers alone; a what-if, a fit or an interval only prices them anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.machines.constants import NOMINAL, Constants
from simulator.planner.plan import COMPUTE_PARTS, Part, Plan
from simulator.planner.shares import Ints


@dataclass(frozen=True)
class Priced:
    """Whole cycles of one execution: of the slowest tile in every superstep, and of the barriers."""

    compute: int
    exchange: int
    sync: int

    @property
    def total(self) -> int:
        return self.compute + self.exchange + self.sync


def scales(constants: Constants = NOMINAL) -> npt.NDArray[np.float64]:
    """What multiplies the cycles of each ``Part``. Shape [parts]."""
    c = constants
    found = np.empty(len(Part), dtype=np.float64)
    found[Part.MATRIX] = c.matrix
    found[[Part.VECTOR, Part.REDUCE, Part.COPY]] = c.vector
    found[Part.SLICE] = 1.0  # measured kernels are met by the documented cycles as they are
    found[Part.EXCHANGE], found[Part.SYNC] = c.exchange, c.superstep
    return found * c.age


def features(plans: Sequence[Plan]) -> Ints:
    """Documented cycles of each plan by ``Part``. Shape [plans, parts]."""
    return np.array([plan.features for plan in plans], dtype=np.int64).reshape(-1, len(Part))


def priced(counted: Ints, constants: Constants = NOMINAL) -> Ints:
    """Whole cycles of rows of ``features`` under ``constants``: each part rounded up. Same shape."""
    return np.ceil(counted * scales(constants)).astype(np.int64)


def in_three(cycles: Ints) -> Ints:
    """Rows of parts added up to compute, exchange and sync. Shape [plans, 3]."""
    compute = cycles[:, : len(COMPUTE_PARTS)].sum(axis=1)
    return np.stack([compute, cycles[:, Part.EXCHANGE], cycles[:, Part.SYNC]], axis=1)


def price(plan: Plan, constants: Constants = NOMINAL) -> Priced:
    """Cycles of one execution of ``plan``."""
    compute, exchange, sync = in_three(priced(features([plan]), constants))[0].tolist()
    return Priced(compute, exchange, sync)


def tile_cycles(plan: Plan, constants: Constants = NOMINAL) -> tuple[Ints, Ints]:
    """Own compute and own exchange of each tile, never more than ``price`` says. Shape [tiles] each."""
    scale = scales(constants)
    if (scale == 1.0).all():
        return plan.compute, plan.exchange
    compute = np.zeros_like(plan.compute)
    for part, cycles in plan.by_part:
        compute += np.floor(cycles * scale[part]).astype(np.int64)
    return compute, np.floor(plan.exchange * scale[Part.EXCHANGE]).astype(np.int64)
