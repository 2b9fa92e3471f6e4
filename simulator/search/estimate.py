"""What a candidate would take at best, from the whole model on one IPU: orders the search, and rules out early.

An estimate decides only what is tried first and what is left out as far slower; what is told was simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simulator.search.candidates import Family, Request
from simulator.units import Bytes

TRUSTED = 0.75  # what is left out is slower by the estimate than the best found, even at this share of it

TIGHT = 0.35  # of the chips' memory that weights and state take, from which on the smallest micro-batch is tried first


@dataclass(frozen=True)
class Work:
    """A micro-batch of ``batch`` samples of the whole model on one IPU, in seconds; update once a step.

    ``resident`` are bytes that always stay on the chip (weights, constants), ``state`` those of the optimiser.
    """

    batch: int
    forward: float
    backward: float
    update: float
    resident: Bytes
    state: Bytes


class Estimate:
    """``works`` at one or two batches; ``rate(ipus)`` turns seconds into what the goal counts (dollars, joules)."""

    def __init__(
        self, request: Request, works: tuple[Work, ...], ipu_bytes: Bytes, rate: Callable[[int], float]
    ) -> None:
        self._request = request
        self._works = works
        self._ipu_bytes = ipu_bytes
        self._rate = rate

    def cost(self, family: Family, batch: int, accumulation: int) -> float:
        """Of one sample, with stages in perfect balance, no collectives and no host."""
        forward, backward = self._at(batch)
        if family.recompute != "none":
            backward += forward
        update = self._works[0].update if self._request.base.training else 0.0
        stages, replicas = family.stages, family.replicas(self._request.base)
        seconds = (forward + backward) / stages * self._times(family, accumulation) + update / stages
        samples = batch * replicas * (accumulation if self._request.base.training else 1)
        return seconds / samples * self._rate(family.ipus)

    def over(self, family: Family) -> Bytes:
        """Bytes by which what always stays on the chips exceeds all their memory; 0 when it might fit."""
        return max(0, self._staying(family) - self._room(family))

    def tight(self, family: Family) -> bool:
        """Whether so much stays on the chips that even the smallest micro-batch may not fit."""
        return self._staying(family) > TIGHT * self._room(family)

    def _staying(self, family: Family) -> Bytes:
        replicas = family.replicas(self._request.base)
        state = self._works[0].state // (replicas if family.shard_optimiser else 1)
        return self._works[0].resident + (0 if family.offload == "optimiser" else state)

    def _room(self, family: Family) -> Bytes:
        return self._ipu_bytes * family.stages * self._request.base.tensor_parallel

    def _times(self, family: Family, accumulation: int) -> int:
        """Turns of the pipeline in a step: filling and draining it take some too."""
        return accumulation + family.stages - 1 if self._request.base.training else 1

    def _at(self, batch: int) -> tuple[float, float]:
        """Seconds forwards and backwards at ``batch``, on a line through the two known ones, never below its share."""
        first, last = self._works[0], self._works[-1]
        if first.batch == last.batch:
            share = batch / first.batch
            return first.forward * share, first.backward * share
        share = (batch - first.batch) / (last.batch - first.batch)
        found = (
            first.forward + share * (last.forward - first.forward),
            first.backward + share * (last.backward - first.backward),
        )
        least = batch / last.batch if batch < last.batch else 0.0
        return max(found[0], least * last.forward), max(found[1], least * last.backward)
