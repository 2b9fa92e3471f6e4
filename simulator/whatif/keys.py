"""Which settings plans depend on, so that a what-if repeats only what it must; those of traces are in ``graph``.

A setting that is not named here counts as one that they depend on: forgetting one costs time, not truth.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from simulator.config import RunConfig
from simulator.graph.graph import Graph, Kind
from simulator.graph.traced import OF_NUMBERS, OF_SLICE, frozen
from simulator.machines.catalogue import slice_of
from simulator.machines.constants import PREFIX

# plans and layout do not ask for these
AFTER_PLAN = OF_NUMBERS | {"sdk", "queue_depth", "prefetch_depth", "loader_workers", "schedule", "offload"}
# constants that price work but decide no plan, as long as no operator crosses IPUs by itself
PRICES = ("chip.", "links.", "host.", "streaming.", "cost.", PREFIX)


def plan_key(config: RunConfig, graph: Graph) -> Hashable:
    """Equal for settings that give the same plans, once splits are chosen. The size of the slice counts where replicas
    share out state.
    """
    left_out = AFTER_PLAN if config.shard_optimiser else AFTER_PLAN | OF_SLICE
    values = {name: value for name, value in config.to_dict().items() if name not in left_out}
    crosses = bool(np.isin(graph.ops.kind, [int(Kind.STENCIL)]).any())
    free = (PREFIX,) if crosses else PRICES
    values["machine"] = {name: value for name, value in config.machine.items() if not name.startswith(free)}
    chip = slice_of(config.system, None)[0].chip
    return chip, frozen(values)
