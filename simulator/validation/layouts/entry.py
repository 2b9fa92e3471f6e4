"""One published run configuration in our terms, and the words that every layout shares."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.config import CHOICES

OPTIMISERS = (
    ("lamb", ("lamb", "adam")),
    ("adamw", ("adamw",)),
    ("adam", ("adam",)),
    ("lars", ("lars", "momentum")),
    ("rmsprop", ("rmsprop", "adam")),
    ("momentum", ("momentum",)),
    ("sgd", ("momentum",)),
)
ROUND = re.compile(r"^mlperf-(v\d+\.\d+)")


@dataclass(frozen=True)
class Configuration:
    """``settings`` are fields of RunConfig; ``assumed`` names those that only stand in for what was published.

    ``round`` like "v1.1" of MLPerf, ``division`` "open", "closed" or "" for both; ``ipus`` of the whole run.
    """

    name: str
    source: str
    model: str
    task: str
    framework: str
    round: str = ""
    division: str = ""
    ipus: int = 1
    chip: str = ""
    dims: dict[str, int] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()


def identity(name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What every layout tells alike: where it is from, for which round and division, on which chip."""
    found = ROUND.match(name)
    division = next((word for word in ("closed", "open") if name.endswith("-" + word)), "")
    chip = str(entry.get("chip", ""))
    return {
        "name": name,
        "source": str(entry.get("source", "")),
        "round": found.group(1) if found else "",
        "division": division,
        "chip": {"Bow": "BOW"}.get(chip, chip),
    }


def optimiser(name: str) -> tuple[str, bool]:
    """Our optimiser for a published one, and whether it only stands in for it."""
    lowered = name.lower()
    for word, ours in OPTIMISERS:
        if word in lowered:
            chosen = next((choice for choice in ours if choice in CHOICES["optimiser"]), "adam")
            return chosen, chosen != word
    return "momentum", True


def number(value: Any, otherwise: float) -> float:
    """A number that may be written as text."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return otherwise


def proportions(value: Any, stage_ipus: tuple[int, ...]) -> dict[str, Any]:
    """Memory proportions: one for all, or one for each IPU and so for each stage on it."""
    given = [number(each, 0.6) for each in (value if isinstance(value, list) else [value]) if each is not None]
    if not given:
        return {}
    if len(given) > 1 and stage_ipus and len(given) > max(stage_ipus):
        return {"stage_proportions": tuple(given[ipu] for ipu in stage_ipus)}
    return {"available_memory_proportion": given[0]}
