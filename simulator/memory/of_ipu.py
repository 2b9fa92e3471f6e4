"""The memory map of one IPU of a replica: what it keeps, and what sums over replicas need where that is most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.machines.ipu import Ipu
from simulator.memory.crossing import summing_bytes
from simulator.memory.lifetimes import Held
from simulator.memory.stash import held
from simulator.memory.tilemap import MemoryMap, memory_map
from simulator.parallel.replicas import Parallel
from simulator.parallel.subgraphs import IpuGraph
from simulator.planner.assign import Assignment
from simulator.planner.layout import linear

Mapped = Callable[[Graph, Assignment, Ipu, Held], MemoryMap]


def memory_of(
    part: IpuGraph, assignment: Assignment, parallel: Parallel, config: RunConfig, ipu: Ipu,
    mapped: Mapped = memory_map,
) -> MemoryMap:  # fmt: skip
    """``mapped`` makes or remembers maps. It is asked twice only where gradients are summed at the fullest time: the
    number of replicas changes nothing as long as other steps need more.
    """
    kept = held(part, parallel, config)
    found = mapped(part.graph, assignment, ipu, kept)
    needed = summing_bytes(part.graph, parallel, ipu)
    if not needed:
        return found
    most = found.before_update + int(linear(needed, 1, ipu).elements.max())
    if most <= int(found.tile_bytes[found.worst_tile]):
        return found
    return mapped(part.graph, assignment, ipu, replace(kept, summing=needed))
