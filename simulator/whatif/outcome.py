"""Headline figures of a configuration, and what its operators take, straight from plans: a report is far more work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulator.config import RunConfig
from simulator.graph.graph import Graph, Kind, Pass
from simulator.laying import Laid
from simulator.memory.fit import Overflow
from simulator.memory.tilemap import MemoryMap
from simulator.planner.shares import Ints
from simulator.report.causes import PARTS, Group, Spending, Spent, pattern_of
from simulator.report.intervals import doubts, half_width
from simulator.schedule.outside import Outside
from simulator.schedule.step import Planned, Schedule
from simulator.units import Bytes

KINDS = {int(kind): kind.name.lower() for kind in Kind}
PASSES = {int(pass_): pass_.name.lower() for pass_ in Pass}


@dataclass(frozen=True)
class Outcome:
    """Figures of one configuration. ``parts``: seconds of a step of the busiest IPU by what it does in them."""

    config: RunConfig
    ipus: int
    replicas: int
    global_batch: int
    step_seconds: float
    samples_per_second: float
    latency_seconds: float | None
    parts: dict[str, float]
    spread: float  # the factor by which a figure may lie above or below
    fits: bool
    over_by: Bytes
    fullest: Bytes
    bytes_per_tile: Bytes
    totals: dict[str, Bytes]  # of the fullest IPU, by category
    spending: Spending

    def to_dict(self) -> dict[str, Any]:
        """Plain figures, without what each operator takes."""
        left_out = ("config", "spending", "spread")
        found = {name: value for name, value in self.__dict__.items() if name not in left_out}
        figures = {name: found[name] for name in ("step_seconds", "samples_per_second")}
        found["intervals"] = {name: [value / self.spread, value * self.spread] for name, value in figures.items()}
        return found


class Grouped(NamedTuple):
    """Groups of operators, the names in each, and the number of the group of every operator."""

    groups: tuple[Group, ...]
    names: tuple[dict[str, None], ...]
    of: npt.NDArray[np.int64]


def covered(laid: Laid, schedule: Schedule) -> float:
    """Share of the operators' time that is costed by a model of its own."""
    known = total = 0
    for place, planned in enumerate(laid.planned):
        cycles = schedule.columns[place].sum(axis=1) * _runs(planned, schedule, place)
        modelled = np.fromiter((plan.modelled for plan in planned.assignment.plans), dtype=bool, count=len(cycles))
        total += int(cycles.sum())
        known += int(cycles[modelled].sum())
    return known / total if total else 1.0


def outcome_of(
    laid: Laid,
    maps: Sequence[MemoryMap],
    overs: Sequence[Overflow | None],
    config: RunConfig,
    origins: Mapping[str, str],
    schedule: Schedule,
    groups: Callable[[Graph], Grouped],
) -> Outcome:
    """The figures of plans under a schedule, with the memory of each IPU of a replica and what is over on it."""
    clock, parallel = laid.ipu.clock_hz, laid.parallel
    seconds = schedule.total / clock
    fullest = max(maps, key=lambda each: int(each.tile_bytes.max()))
    return Outcome(
        config=config,
        ipus=parallel.ipus,
        replicas=parallel.replicas,
        global_batch=parallel.global_batch,
        step_seconds=seconds,
        samples_per_second=parallel.samples / seconds,
        latency_seconds=None if config.training else schedule.latency / clock,
        parts={name: cycles / clock for name, cycles in _parts(schedule, laid.planned).items()},
        spread=half_width(doubts(config.framework, parallel.ipus, covered(laid, schedule), origins)),
        fits=all(over is None for over in overs),
        over_by=max((over.over_by for over in overs if over is not None), default=0),
        fullest=int(fullest.tile_bytes.max()),
        bytes_per_tile=laid.ipu.bytes_per_tile,
        totals={name: int(column.sum()) for name, column in fullest.by_tile.items()},
        spending=_spending(laid, schedule, clock, groups),
    )


def _runs(planned: Planned, schedule: Schedule, place: int) -> Ints:
    """How often each operator's columns count in a step."""
    runs: Ints = schedule.executions[place] // planned.part.graph.ops.repeats
    return runs


def _parts(schedule: Schedule, planned: Sequence[Planned]) -> dict[str, int]:
    place = schedule.busiest
    columns = (schedule.columns[place] * _runs(planned[place], schedule, place)[:, None]).sum(axis=0)
    found = dict(zip(PARTS, columns.tolist(), strict=True))
    events = (("host", schedule.host), ("collective", schedule.collectives), ("copy", schedule.copies[place]))
    for name, each in events:
        found[name] = sum(event.total for event in each)
    return {**found, "bubble": schedule.bubble(place)}


def _spending(laid: Laid, schedule: Schedule, clock: float, groups_of: Callable[[Graph], Grouped]) -> Spending:
    found: dict[Group, Spent] = {}
    for place, planned in enumerate(laid.planned):
        groups, names, of = groups_of(planned.part.graph)
        cycles = schedule.columns[place] * _runs(planned, schedule, place)[:, None]
        sums = [np.bincount(of, weights=cycles[:, part], minlength=len(groups)) / clock for part in range(len(PARTS))]
        for number, group in enumerate(groups):
            spent = found.setdefault(group, Spent())
            spent.names.update(names[number])
            for part, column in zip(PARTS, sums, strict=True):
                spent.seconds[part] = spent.seconds.get(part, 0.0) + float(column[number])
    for kind, events in (("host", schedule.host), ("collective", schedule.collectives), ("copy", schedule.copies[0])):
        _outside(found, kind, events, clock)
    return found


def _outside(found: dict[Group, Spent], kind: str, events: tuple[Outside, ...], clock: float) -> None:
    pass_ = "update" if kind == "collective" else "forward"
    for event in events:
        group = Group(pattern_of(event.name), kind, pass_)
        found.setdefault(group, Spent()).add(event.name, {kind: event.total / clock})


def grouped(graph: Graph) -> Grouped:
    """The groups of a graph's operators."""
    ops = graph.ops
    numbers: dict[Group, int] = {}
    names: list[dict[str, None]] = []
    of = np.empty(len(ops), dtype=np.int64)
    columns = zip(ops.source, ops.primitive, ops.kind.tolist(), ops.pass_.tolist(), strict=True)
    for index, (source, primitive, kind, pass_) in enumerate(columns):
        name = source or primitive
        group = Group(pattern_of(name), KINDS[kind], PASSES[pass_])
        number = numbers.setdefault(group, len(numbers))
        if number == len(names):
            names.append({})
        names[number][name] = None
        of[index] = number
    return Grouped(tuple(numbers), tuple(names), of)
