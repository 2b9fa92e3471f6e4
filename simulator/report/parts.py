"""What the stages hand to the report. Only names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.ipu import Ipu
from simulator.memory.fit import Overflow
from simulator.memory.tilemap import MemoryMap
from simulator.parallel.replicas import Parallel
from simulator.parallel.stages import Staging
from simulator.planner.assign import Assignment
from simulator.schedule.step import Schedule
from simulator.schedule.timeline import Timeline


@dataclass(frozen=True)
class IpuClass:
    """One IPU of a replica, the same in every replica. ``stage_of``: the stage of each operator (-1: shared work).

    ``timed`` makes its timeline when somebody asks for it: whoever only wants to know what fits does not.
    """

    ipu: int
    stages: tuple[int, ...]
    graph: Graph
    stage_of: tuple[int, ...]
    assignment: Assignment
    timed: Callable[[], Timeline]
    memory: MemoryMap
    overflow: Overflow | None

    @cached_property
    def timeline(self) -> Timeline:
        """The step as this IPU spends it."""
        return self.timed()


@dataclass(frozen=True)
class Parts:
    """Products of every stage of one simulation. ``notes`` are (code, message) of the front end.

    ``classes`` has one entry for each IPU of a replica. ``origins`` says of settings whether they are given, published
    or assumed; one that is missing was assumed. ``whole`` is the model before it was divided.
    """

    name: str
    parameters: int
    sha256: str | None
    notes: tuple[tuple[str, str], ...]
    config: RunConfig
    parallel: Parallel
    ipu: Ipu
    classes: tuple[IpuClass, ...]
    schedule: Schedule
    whole: Graph
    staging: Staging
    origins: Mapping[str, str] = field(default_factory=dict)
    constants: Constants = NOMINAL

    def seconds(self, cycles: int) -> float:
        """Seconds that ``cycles`` of the chip take."""
        return cycles / self.ipu.clock_hz

    @property
    def busiest(self) -> IpuClass:
        """The IPU that waits least for the others: what makes it faster makes the step faster."""
        return self.classes[self.schedule.busiest]

    @property
    def fullest(self) -> IpuClass:
        """The IPU whose fullest tile has least room."""
        return max(self.classes, key=lambda each: int(each.memory.tile_bytes.max()))

    @property
    def graph(self) -> Graph:
        return self.busiest.graph

    @property
    def assignment(self) -> Assignment:
        return self.busiest.assignment

    @property
    def timeline(self) -> Timeline:
        return self.busiest.timeline

    @property
    def memory(self) -> MemoryMap:
        return self.fullest.memory

    @property
    def overflow(self) -> Overflow | None:
        """What does not fit: on the fullest IPU, or on another where only the code is too much."""
        return self.fullest.overflow or next((c.overflow for c in self.classes if c.overflow is not None), None)

    @property
    def step_cycles(self) -> int:
        return self.schedule.total

    @property
    def samples(self) -> float:
        """Samples of one step over all replicas, packed ones counted as what is in them."""
        return self.parallel.samples
