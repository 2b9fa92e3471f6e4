"""The scale of the loss while training in float16: as given, or found by halving it whenever a gradient overflows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.config import RunConfig
from simulator.learning.step import loss_scale
from simulator.program import Array

PATIENCE = 2000  # steps without overflow before a larger scale is tried
LEAST, MOST = 1.0, 2.0**16


@dataclass
class LossScale:
    """``value`` of the next step; ``calm`` counts the steps since the last change. A fixed one never changes."""

    value: float
    automatic: bool
    calm: int = 0

    @classmethod
    def of(cls, config: RunConfig) -> LossScale:
        return cls(loss_scale(config), config.precision == "fp16" and not config.loss_scale)

    def tell(self, finite: bool) -> None:
        """Whether the step just done had finite gradients alone."""
        if not self.automatic:
            return
        self.calm = self.calm + 1 if finite else 0
        if not finite:
            self.value = max(LEAST, self.value / 2)
        elif self.calm >= PATIENCE:
            self.value, self.calm = min(MOST, self.value * 2), 0

    def saved(self) -> Array:
        return np.array([self.value, self.calm], np.float32)

    def restore(self, saved: Array) -> None:
        self.value, self.calm = float(saved[0]), int(saved[1])
