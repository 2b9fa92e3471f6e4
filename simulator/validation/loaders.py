"""Reads ``loaders.yaml``: what the loader of a run costs by record, and how the run sums its gradients."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from simulator.datafiles import read_data

ONE_BY_ONE = {"collectives.gradients_of_sum": 1.0}


@dataclass(frozen=True)
class Loader:
    """``record_seconds`` of a worker for a record (0: an epoch waits for none); ``machine``: constants of the run."""

    record_seconds: float = 0.0
    machine: dict[str, float] = field(default_factory=dict)


@lru_cache(maxsize=1)
def _entries() -> dict[str, Any]:
    parsed: dict[str, Any] = read_data("simulator.validation", "loaders.yaml")
    return parsed


def loader_of(name: str, words: str) -> Loader:
    """The loader ``name`` of a row whose model column has these ``words``; one that costs nothing for no name."""
    if not name:
        return Loader()
    entry = _entries()[name]
    machine = {"host.sample": float(entry["handed"]["value"])}
    if re.search(entry["unmerged"]["words"], words, re.I):
        machine |= ONE_BY_ONE
    return Loader(0.0 if entry.get("ready") else float(entry["record"]["value"]), machine)
