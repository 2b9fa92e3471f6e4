"""What a user may set for one run, validated. It knows no model and no machine: their names are resolved later."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from simulator.errors import SimulatorError

CHOICES: dict[str, tuple[str, ...]] = {
    "task": ("train", "infer"),
    "optimiser": ("sgd", "momentum", "adam", "adamw"),
    "precision": ("fp16", "fp32"),
    "partials": ("fp16", "fp32"),
    "dataset": ("digits", "synthetic"),
}
# (least, most) inclusive
INTEGER_RANGES: dict[str, tuple[int, int]] = {
    "batch": (1, 65_536),
    "steps": (1, 1_000_000),
    "seed": (0, 2**31 - 1),
    "ipus": (1, 65_536),
}
FLOAT_RANGES: dict[str, tuple[float, float]] = {
    "learning_rate": (0.0, 1000.0),
    "momentum": (0.0, 1.0),
    "available_memory_proportion": (0.01, 1.0),
}
MOST_DIMS = 256
LARGEST_DIM = 2**31 - 1


@dataclass(frozen=True)
class RunConfig:
    """Settings of one run. ``batch`` is the micro-batch of one replica; ``ipus`` None means all of the system."""

    task: str = "train"
    batch: int = 16
    steps: int = 100
    optimiser: str = "sgd"
    learning_rate: float = 0.01
    momentum: float = 0.9
    precision: str = "fp32"
    partials: str = "fp32"
    seed: int = 0
    dataset: str = "synthetic"
    dims: dict[str, int] = field(default_factory=dict)
    available_memory_proportion: float = 0.6
    system: str = "pod4"
    ipus: int | None = None

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            _choice(name, getattr(self, name), allowed)
        for name, (least, most) in INTEGER_RANGES.items():
            if not (name == "ipus" and self.ipus is None):
                _integer(name, getattr(self, name), least, most)
        for name, (low, high) in FLOAT_RANGES.items():
            _number(name, getattr(self, name), low, high)
        if not isinstance(self.system, str) or not self.system:
            raise _invalid("system", self.system, "the name of a system, such as pod4")
        _dims(self.dims)

    @property
    def training(self) -> bool:
        return self.task == "train"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """Build from plain JSON. Raises ``config.invalid`` naming the field and what is legal."""
        if not isinstance(values, Mapping):
            raise _invalid("config", values, "an object of settings")
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise _invalid(str(name)[:100], None, "one of the settings: " + ", ".join(known), unknown=True)
        return cls(**dict(values))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able settings; ``from_dict`` reads them back."""
        return asdict(self)


def _invalid(name: str, value: object, legal: object, *, unknown: bool = False) -> SimulatorError:
    said = "is not a setting" if unknown else f"cannot be {value!r:.100}"
    return SimulatorError(
        "config.invalid", f"Setting '{name}' {said}. Use {legal}.", params={"field": name, "legal": str(legal)}
    )


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise _invalid(name, value, "one of " + ", ".join(allowed))


def _integer(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _invalid(name, value, f"a whole number from {least} to {most}")


def _number(name: str, value: object, least: float, most: float) -> None:
    legal = f"a number from {least:g} to {most:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _invalid(name, value, legal)
    if not math.isfinite(value) or not least <= value <= most:
        raise _invalid(name, value, legal)


def _dims(dims: object) -> None:
    legal = f"up to {MOST_DIMS} names, each with a whole number from 1 to {LARGEST_DIM}"
    if not isinstance(dims, dict) or len(dims) > MOST_DIMS:
        raise _invalid("dims", dims, legal)
    for name, size in dims.items():
        if not isinstance(name, str) or isinstance(size, bool) or not isinstance(size, int):
            raise _invalid("dims", {name: size}, legal)
        if not 1 <= size <= LARGEST_DIM:
            raise _invalid("dims", {name: size}, legal)
