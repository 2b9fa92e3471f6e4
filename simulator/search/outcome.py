"""What one configuration was found to do, and how a goal ranks two of them. It measures nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from simulator.units import Bytes

Goal = Literal["fastest", "cheapest", "least_energy"]


@dataclass(frozen=True)
class Overfull:
    """Where a configuration does not fit: IPU of the replica, its tile, and the bytes over."""

    ipu: int
    tile: int
    over_by: Bytes
    region: str

    def to_dict(self) -> dict[str, Any]:
        return {"ipu": self.ipu, "tile": self.tile, "over_by": self.over_by, "region": self.region}


@dataclass(frozen=True)
class Outcome:
    """One simulated configuration. Figures are of one sample, over all IPUs of the slice.

    ``headroom`` is what is free on the fullest tile of any IPU, negative when over. ``stage_seconds`` is what a
    micro-batch takes in each stage of the pipeline, ``ipu_free`` the free bytes on the fullest tile of each IPU, and
    ``splits`` the nodes that begin each stage after the first.
    """

    seconds: float
    price: float | None  # US dollars; None where no price of the system is known
    joules: float
    step_seconds: float
    global_batch: int
    headroom: Bytes
    overfull: Overfull | None = None
    stage_seconds: tuple[float, ...] = ()
    ipu_free: tuple[Bytes, ...] = ()
    splits: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        return self.overfull is None

    def cost(self, goal: Goal) -> float:
        """What ``goal`` wants little of."""
        price = float("inf") if self.price is None else self.price
        return {"fastest": self.seconds, "cheapest": price, "least_energy": self.joules}[goal]

    def to_dict(self) -> dict[str, Any]:
        return {
            "fits": self.fits,
            "step_seconds": self.step_seconds,
            "samples_per_second": 1 / self.seconds,
            "global_batch": self.global_batch,
            "dollars_per_million_samples": None if self.price is None else self.price * 1e6,
            "joules_per_sample": self.joules,
            "headroom_bytes": self.headroom,
            "overfull": None if self.overfull is None else self.overfull.to_dict(),
        }


def dominates(one: Outcome, other: Outcome) -> bool:
    """Whether ``one`` is nowhere worse and somewhere better: time, price and energy of a sample, memory headroom."""
    mine = (one.seconds, one.cost("cheapest"), one.joules, -one.headroom)
    others = (other.seconds, other.cost("cheapest"), other.joules, -other.headroom)
    return all(a <= b for a, b in zip(mine, others, strict=True)) and mine != others
