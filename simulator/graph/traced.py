"""Which settings the trace of a micro-batch depends on: it knows no machine and no division over IPUs.

A setting that is not named here counts as one that it depends on: forgetting one costs a trace, not truth.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from simulator.config import RunConfig

OF_NUMBERS = frozenset({"steps", "seed", "dataset"})
OF_SLICE = frozenset({"system", "ipus", "replicas", "hosts"})
AFTER_TRACE = OF_NUMBERS | OF_SLICE | {
    "accumulation", "available_memory_proportion", "checkpoints", "device_iterations", "embedding_steps",
    "loader_workers", "machine", "offload", "partials", "prefetch_depth", "queue_depth", "recompute", "schedule", "sdk",
    "sequences_in_pack", "shard_optimiser", "splits", "stage_ipus", "stage_proportions", "stages", "state_precision",
    "tensor_parallel",
}  # fmt: skip


def trace_key(config: RunConfig) -> Hashable:
    """Equal for settings that give the same trace, whatever the batch."""
    return frozen({name: value for name, value in config.to_dict().items() if name not in AFTER_TRACE | {"batch"}})


def frozen(value: Any) -> Hashable:
    """Plain JSON as something that can be a key."""
    if isinstance(value, dict):
        return tuple(sorted((name, frozen(each)) for name, each in value.items()))
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value
