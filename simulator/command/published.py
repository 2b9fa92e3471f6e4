"""Settings of a built-in model that nobody gave: those of its published run, as far as they go with what was given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from simulator.zoo.catalogue import ZOO

# who gives one of the first decides about the second as well
DECIDES: tuple[tuple[frozenset[str], frozenset[str]], ...] = tuple(
    (frozenset(given), frozenset(left_out))
    for given, left_out in (
        (("system",), ("ipus", "replicas", "hosts", "loader_workers")),
        (("ipus",), ("replicas", "hosts")),
        (("replicas",), ("ipus", "hosts")),
        (
            ("stages", "splits", "stage_ipus"),
            ("stages", "splits", "stage_ipus", "stage_proportions", "replicas", "ipus"),
        ),
        (("tensor_parallel",), ("replicas", "ipus")),
        (("recompute",), ("checkpoints",)),
        (("checkpoints",), ("recompute",)),
        (("available_memory_proportion",), ("stage_proportions",)),
        (("precision",), ("partials", "state_precision")),
    )
)


def published(model: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the published run of a built-in model of the task that is wanted; none for any other model."""
    found = next((entry for entry in ZOO if entry.id == model), None)
    if found is None or given.get("task", found.run.config["task"]) != found.run.config["task"]:
        return {}
    # what is given as it was published decides nothing else
    left_out = _left_out({name for name, value in given.items() if found.run.config.get(name) != value}) | set(given)
    left_out -= {"dims"}
    return {name: value for name, value in found.run.config.items() if name not in left_out}


def _left_out(given: Collection[str]) -> set[str]:
    """What the settings that were given decide besides themselves."""
    found: set[str] = set()
    for deciding, decided in DECIDES:
        if deciding & set(given):
            found |= decided
    return found
