"""The few numbers that may be fitted to measurements (``fitted.yaml``). What each scales is told where it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Any

from simulator.errors import SimulatorError
from simulator.machines.facts import Fact, fact_of, read_yaml

PREFIX = "fitted."
NEWEST_SDK = 3.3


@dataclass(frozen=True)
class Constants:
    """Scales of documented cycles (``matrix`` to ``superstep``) and seconds (``link``, ``host``, ``optimiser_host``).

    ``sdk_slope`` is the share by which work grows for each version that the SDK is below 3.3; ``latency_tail`` scales
    the batches that wait before one. The GPU's are the comparator's: achieved shares of peaks, and of a launch's time.
    """

    matrix: float = 1.0
    vector: float = 1.0
    exchange: float = 1.0
    superstep: float = 1.0
    link: float = 1.0
    host: float = 1.0
    optimiser_host: float = 1.0
    sdk_slope: float = 0.0
    latency_tail: float = 1.0
    gpu_matrix: float = 0.5
    gpu_memory: float = 0.7
    gpu_launch: float = 1.0
    age: float = 1.0  # not fitted: work of the SDK in use against that of the newest, from ``sdk_slope``

    def to_dict(self) -> dict[str, float]:
        return asdict(self)

    def of_sdk(self, sdk: float) -> Constants:
        """The same, for work compiled by version ``sdk``."""
        return replace(self, age=1.0 + self.sdk_slope * max(0.0, NEWEST_SDK - sdk))


NOMINAL = Constants()
NAMES = tuple(field.name for field in fields(Constants) if field.name != "age")


@lru_cache(maxsize=1)
def fitted() -> dict[str, Fact]:
    """Every fitted constant with unit, provenance and bounds, by name."""
    return {name: fact_of(PREFIX + name, entry) for name, entry in read_yaml("fitted.yaml").items()}


def constants(overrides: Mapping[str, float] | None = None, *, sdk: float = NEWEST_SDK) -> Constants:
    """The constants in use; ``overrides`` are by name, "fitted.matrix" or "matrix", other sections are not looked at.

    Raises ``machine.constant_unknown`` for a name that is none of them.
    """
    values = {name: fact.value for name, fact in fitted().items()}
    for name, value in (overrides or {}).items():
        if "." in name and not name.startswith(PREFIX):
            continue
        values[checked(name).removeprefix(PREFIX)] = float(value)
    return Constants(**values).of_sdk(sdk)


def checked(name: str) -> str:
    """``name`` when it is a fitted constant; else raises ``machine.constant_unknown`` with the names there are."""
    if name.removeprefix(PREFIX) not in NAMES:
        known = ", ".join(PREFIX + each for each in NAMES)
        raise SimulatorError(
            "machine.constant_unknown",
            f"There is no fitted constant '{name:.60}'. Use one of {known}.",
            params={"constant": name[:60], "known": known},
        )
    return name


def provenance() -> list[dict[str, Any]]:
    """Every fitted constant as the report tells it."""
    return [{**fact.to_dict(), "low": fact.low, "high": fact.high} for fact in fitted().values()]
