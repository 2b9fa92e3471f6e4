"""Reads ``gpus.yaml``: documented numbers of the GPUs one may compare with. What a model takes is in ``roofline``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from simulator.datafiles import read_data
from simulator.errors import SimulatorError


@dataclass(frozen=True)
class Gpu:
    """Rates in operations or bytes a second, prices in dollars; ``sources`` by field."""

    id: str
    name: str
    fp16_flops: float
    tf32_flops: float
    fp32_flops: float
    memory_rate: float
    memory_bytes: float
    link_rate: float
    network_rate: float
    link_hop: float
    watts: float
    of_server: int
    server_watts: float
    server_price_usd: float
    sources: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "sources"}


@lru_cache(maxsize=1)
def gpus() -> dict[str, Gpu]:
    """All of them, by id."""
    parsed = read_data("simulator.comparator", "gpus.yaml")
    return {key: _gpu(key, entry) for key, entry in parsed.items()}


def _gpu(key: str, entry: dict[str, Any]) -> Gpu:
    numbers = {name: value[0] for name, value in entry.items() if isinstance(value, list)}
    sources = tuple((name, value[1]) for name, value in entry.items() if isinstance(value, list))
    return Gpu(id=key, name=entry["name"], sources=sources, **numbers)


def gpu(name: str) -> Gpu:
    """Raises ``comparator.unknown`` for one that is not listed."""
    found = gpus().get(name.lower())
    if found is None:
        known = ", ".join(gpus())
        text = f"There is no comparator '{name[:60]}'. Use one of {known}."
        raise SimulatorError("comparator.unknown", text, params={"comparator": name[:60], "known": known})
    return found
