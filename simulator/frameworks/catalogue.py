"""Reads ``frameworks.yaml``: what each framework decides where a run does not. It costs nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simulator.datafiles import read_data
from simulator.errors import SimulatorError


@dataclass(frozen=True)
class Framework:
    """Mechanisms of one framework; ``host_*`` in seconds, ``queue_depth`` in batches."""

    name: str
    fusion: str
    partials: str
    host_call: float
    host_weight: float
    queue_depth: int
    confidence: str
    source: str

    def to_dict(self) -> dict[str, Any]:
        return dict(self.__dict__)


@lru_cache(maxsize=1)
def frameworks() -> dict[str, Framework]:
    """All of them, by the name that RunConfig takes."""
    parsed = read_data("simulator.frameworks", "frameworks.yaml")
    return {name: Framework(name=name, **entry) for name, entry in parsed.items()}


def framework(name: str) -> Framework:
    """Raises ``config.invalid`` for a name that is none of them."""
    found = frameworks().get(name)
    if found is None:
        known = ", ".join(frameworks())
        raise SimulatorError(
            "config.invalid",
            f"There is no framework '{name[:60]}'. Use one of {known}.",
            params={"field": "framework", "legal": known},
        )
    return found
