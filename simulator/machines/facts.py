"""Reads constants with unit, source, confidence and bounds. It computes nothing from them; ``ipu`` is where to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from simulator.datafiles import read_data

Side = Literal["low", "value", "high"]
CONFIDENCES = ("measured", "documented", "inferred", "recalled", "fitted", "nominal", "given")


@dataclass(frozen=True)
class Fact:
    """One constant. ``low`` makes a step faster, ``high`` slower; both are ``value`` where no bound is known."""

    name: str
    value: float
    unit: str
    source: str
    confidence: str
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "source": self.source,
            "confidence": self.confidence,
        }


def read_yaml(name: str) -> dict[str, Any]:
    """A data file of this package, parsed."""
    parsed: dict[str, Any] = read_data("simulator.machines", name)
    return parsed


def fact_of(name: str, entry: Mapping[str, Any]) -> Fact:
    """One entry of a data file."""
    value = float(entry["value"])
    return Fact(
        name, value, entry["unit"], entry["source"], entry["confidence"],
        float(entry.get("low", value)), float(entry.get("high", value)),
    )  # fmt: skip


@lru_cache(maxsize=1)
def facts() -> dict[str, Fact]:
    """Every constant that chips share, under ``section.name``."""
    return {
        f"{section}.{key}": fact_of(f"{section}.{key}", entry)
        for section, entries in read_yaml("facts.yaml").items()
        for key, entry in entries.items()
    }


def fact(name: str, side: Side = "value") -> float:
    """The number ``section.name``, or the bound of it that makes a step faster ("low") or slower ("high")."""
    number: float = getattr(facts()[name], side)
    return number


def whole(name: str) -> int:
    """A constant that is a count (of bytes, cycles, tiles)."""
    number = facts()[name].value
    if number != int(number):
        raise ValueError(f"{name} is not a whole number")
    return int(number)
