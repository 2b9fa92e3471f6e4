"""What the stages hand to the report. Only names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.machines.ipu import Ipu
from simulator.memory.fit import Overflow
from simulator.memory.tilemap import MemoryMap
from simulator.parallel.replicas import Parallel
from simulator.planner.assign import Assignment
from simulator.schedule.timeline import Timeline


@dataclass(frozen=True)
class Parts:
    """Products of every stage of one simulation. ``notes`` are (code, message) of the front end.

    ``origins`` says of settings whether they are given, published or assumed; one that is missing was assumed.
    """

    name: str
    parameters: int
    sha256: str | None
    notes: tuple[tuple[str, str], ...]
    config: RunConfig
    graph: Graph
    parallel: Parallel
    ipu: Ipu
    assignment: Assignment
    timeline: Timeline
    memory: MemoryMap
    overflow: Overflow | None
    origins: Mapping[str, str] = field(default_factory=dict)

    def seconds(self, cycles: int) -> float:
        """Seconds that ``cycles`` of the chip take."""
        return cycles / self.ipu.clock_hz
