"""Which settings each stage of a simulation depends on, so that a what-if repeats only what it must.

A setting that is in none of these sets counts for everything after loading: forgetting one here costs time, not truth.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from simulator.config import RunConfig
from simulator.graph.graph import Graph, Kind
from simulator.machines.constants import PREFIX

OF_NUMBERS = frozenset({"steps", "seed", "dataset"})
OF_SLICE = frozenset({"system", "ipus", "replicas", "hosts"})
# the trace of a micro-batch knows no machine and no division over IPUs
AFTER_TRACE = OF_NUMBERS | OF_SLICE | {
    "accumulation", "available_memory_proportion", "checkpoints", "device_iterations", "embedding_steps",
    "loader_workers", "machine", "offload", "partials", "prefetch_depth", "queue_depth", "recompute", "schedule", "sdk",
    "sequences_in_pack", "shard_optimiser", "splits", "stage_ipus", "stage_proportions", "stages", "tensor_parallel",
}  # fmt: skip
# plans and layout do not ask for these
AFTER_PLAN = OF_NUMBERS | {"sdk", "queue_depth"}
# constants that price work but decide no plan, as long as no operator crosses IPUs by itself and splits are given
PRICES = ("chip.", "links.", "host.", "streaming.", "cost.", PREFIX)


def graph_key(config: RunConfig) -> Hashable:
    """Equal for settings that give the same trace, whatever the batch."""
    return _frozen({name: value for name, value in config.to_dict().items() if name not in AFTER_TRACE | {"batch"}})


def plan_key(config: RunConfig, graph: Graph, *, slice_too: bool) -> Hashable:
    """Equal for settings that give the same plans; the slice counts when ``slice_too``."""
    left_out = AFTER_PLAN if slice_too else AFTER_PLAN | OF_SLICE
    values = {name: value for name, value in config.to_dict().items() if name not in left_out}
    free = PRICES if _settled(config, graph) else (PREFIX,)
    values["machine"] = {name: value for name, value in config.machine.items() if not name.startswith(free)}
    return _frozen(values)


def keeps_plans(config: RunConfig) -> bool:
    """Whether the plans of a replica are the same on a slice of any size."""
    return not config.shard_optimiser and config.tensor_parallel == 1


def _settled(config: RunConfig, graph: Graph) -> bool:
    """Whether rates of links and the clock decide nothing: no balancing of stages, no operator that spans IPUs."""
    balanced = config.pipeline_stages > 1 and not config.splits
    return not balanced and not bool(np.isin(graph.ops.kind, [int(Kind.STENCIL)]).any())


def _frozen(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(sorted((name, _frozen(each)) for name, each in value.items()))
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value
