"""How a weight starts: a rule and a seed of its own, so that any one can be drawn alone and at any time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SEED = 20_261_101


@dataclass(frozen=True)
class Start:
    """``kind`` "normal" (``amount`` is the standard deviation), "uniform" (within +- amount) or "fill" (all amount)."""

    kind: str
    amount: float


ZEROS = Start("fill", 0.0)
ONES = Start("fill", 1.0)


def drawn(name: str, shape: tuple[int, ...], start: Start) -> npt.NDArray[np.float32]:
    """The float32 values of the weight called ``name``: always the same, whatever else a model holds."""
    if start.kind == "fill":
        return np.full(shape, start.amount, np.float32)
    key = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    chance = np.random.default_rng([SEED, key])
    if start.kind == "normal":
        return chance.standard_normal(shape, np.float32) * np.float32(start.amount)
    return chance.uniform(-start.amount, start.amount, shape).astype(np.float32)
