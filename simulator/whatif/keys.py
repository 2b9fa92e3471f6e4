"""Which settings plans depend on, so that a what-if repeats only what it must; those of traces are in ``graph``.

A setting that is in none of these sets counts for everything after loading: forgetting one here costs time, not truth.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from simulator.config import RunConfig
from simulator.graph.graph import Graph, Kind
from simulator.graph.traced import OF_NUMBERS, OF_SLICE, frozen
from simulator.machines.constants import PREFIX

# plans and layout do not ask for these
AFTER_PLAN = OF_NUMBERS | {"sdk", "queue_depth"}
# constants that price work but decide no plan, as long as no operator crosses IPUs by itself and splits are given
PRICES = ("chip.", "links.", "host.", "streaming.", "cost.", PREFIX)


def plan_key(config: RunConfig, graph: Graph, *, slice_too: bool) -> Hashable:
    """Equal for settings that give the same plans; the slice counts when ``slice_too``."""
    left_out = AFTER_PLAN if slice_too else AFTER_PLAN | OF_SLICE
    values = {name: value for name, value in config.to_dict().items() if name not in left_out}
    free = PRICES if _settled(config, graph) else (PREFIX,)
    values["machine"] = {name: value for name, value in config.machine.items() if not name.startswith(free)}
    return frozen(values)


def keeps_plans(config: RunConfig) -> bool:
    """Whether the plans of a replica are the same on a slice of any size."""
    return not config.shard_optimiser and config.tensor_parallel == 1


def _settled(config: RunConfig, graph: Graph) -> bool:
    """Whether rates of links and the clock decide nothing: no balancing of stages, no operator that spans IPUs."""
    balanced = config.pipeline_stages > 1 and not config.splits
    return not balanced and not bool(np.isin(graph.ops.kind, [int(Kind.STENCIL)]).any())
