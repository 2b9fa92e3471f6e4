"""A model kept in memory with its traces, plans and memory maps: another report costs only what a change touches."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.graph.rebatch import Batches
from simulator.graph.traced import trace_key
from simulator.laying import Laid, chosen_splits, lay, weighed
from simulator.machines.constants import constants
from simulator.machines.ipu import Ipu
from simulator.memory.fit import Overflow, overflow
from simulator.memory.lifetimes import Held
from simulator.memory.of_ipu import memory_of
from simulator.memory.tilemap import MemoryMap, memory_map
from simulator.parallel.feeding import as_bytes
from simulator.parallel.replicas import lay_out
from simulator.pipeline import Progress, graph_of, open_model, parts_of, reported
from simulator.planner.assign import Assignment
from simulator.planner.shares import Ints
from simulator.report.build import Report
from simulator.report.notes import notes
from simulator.report.origins import origins_of
from simulator.report.parts import Parts
from simulator.whatif.difference import difference
from simulator.whatif.keys import plan_key
from simulator.whatif.outcome import Grouped, Outcome, grouped, outcome_of

KEPT = 16
T = TypeVar("T")


class Session:
    """What-ifs of one model from one base configuration. Not for use from several threads at once.

    ``changes`` are settings by name; those in ``machine`` and ``dims`` are added to the base's, None takes one out.
    All methods raise SimulatorError as ``simulate`` does; what does not fit is told, not raised.
    """

    def __init__(
        self,
        model: str | Path,
        config: RunConfig,
        *,
        origins: Mapping[str, str] | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        self.model = model
        self.config = config
        self._origins = origins
        self._tell = on_progress
        self._program, self._sha256 = open_model(model, config, on_progress=on_progress)
        self._graphs: _Kept[Batches] = _Kept()
        self._laid: _Kept[Laid] = _Kept()
        self._memory: _Kept[tuple[Assignment, Held, MemoryMap]] = _Kept(4 * KEPT)
        self._weights: _Kept[Ints] = _Kept()
        self._overs: _Kept[tuple[MemoryMap, Overflow | None]] = _Kept(4 * KEPT)
        self._outcomes: _Kept[Outcome] = _Kept(KEPT)
        self._groups: _Kept[tuple[Graph, Grouped]] = _Kept(4 * KEPT)
        self._graph(config)

    def changed(self, changes: Mapping[str, Any] | None) -> RunConfig:
        """The base configuration with ``changes``. Raises ``config.invalid``."""
        values = self.config.to_dict()
        for name, value in (changes or {}).items():
            merge = name in ("machine", "dims") and isinstance(value, Mapping)
            values[name] = {k: v for k, v in {**values[name], **value}.items() if v is not None} if merge else value
        return RunConfig.from_dict(values)

    def report(self, changes: Mapping[str, Any] | None = None) -> Report:
        """The whole report under ``changes``: what ``simulate`` would say, but sooner."""
        config = self.changed(changes)
        began = time.process_time()
        origins = self._origins_of(changes)
        laid = self._planned(config)
        return reported(self._parts_of(laid, config, origins), laid, began, self._parts)

    def outcome(self, changes: Mapping[str, Any] | None = None) -> Outcome:
        """Headline figures and what operators take under ``changes``: no report is built."""
        config = self.changed(changes)
        origins = origins_of(config, self._origins_of(changes))
        return self._outcomes.get((str(config), str(origins)), lambda: self._outcome(config, origins))

    def what_if(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """What ``changes`` do to the base, and why: see ``difference``."""
        before, after = self.outcome(), self.outcome(changes)
        return difference(before, after)

    def notes(self, changes: Mapping[str, Any] | None = None) -> list[dict[str, str]]:
        """What a report under ``changes`` would say beside its figures, of settings without effect too."""
        config = self.changed(changes)
        parts = self._parts_of(self._planned(config), config, self._origins_of(changes))
        return [{"code": code, "message": message} for code, message in notes(parts)]

    def _parts(self, config: RunConfig) -> Parts:
        return self._parts_of(self._planned(config), config, None)

    def _parts_of(self, laid: Laid, config: RunConfig, origins: Mapping[str, str] | None) -> Parts:
        return parts_of(self._program, laid, config, sha256=self._sha256, origins=origins, mapped=self._map)

    def _origins_of(self, changes: Mapping[str, Any] | None) -> Mapping[str, str] | None:
        return None if self._origins is None else {**self._origins, **dict.fromkeys(changes or {}, "given")}

    def _outcome(self, config: RunConfig, origins: Mapping[str, str]) -> Outcome:
        laid = self._planned(config)
        maps, overs = [], []
        for each in laid.planned:
            graph = each.part.graph
            maps.append(memory_of(each.part, each.assignment, laid.parallel, config, laid.ipu, self._map))
            overs.append(self._over(maps[-1], graph, laid.ipu))
        schedule = laid.priced(constants(config.machine, sdk=config.sdk))
        return outcome_of(laid, maps, overs, config, origins, schedule, self._grouped)

    def _graph(self, config: RunConfig) -> Graph:
        def traced(batch: int) -> Graph:
            wanted = replace(config, batch=batch)
            program, _ = open_model(self.model, wanted)
            return graph_of(program, wanted, self._tell)

        def first() -> Batches:
            batches = Batches(traced)
            if trace_key(config) == trace_key(self.config):
                batches.give(graph_of(self._program, self.config, self._tell))
            return batches

        return self._graphs.get(trace_key(config), first).at(config.batch)

    def _planned(self, config: RunConfig) -> Laid:
        graph = self._graph(config)
        config = self._with_splits(graph, config)
        laid = self._laid.get(plan_key(config, graph), lambda: lay(graph, config))
        return laid.moved(config) or lay(graph, config)

    def _with_splits(self, graph: Graph, config: RunConfig) -> RunConfig:
        """Splits chosen anew, since rates of links count, by weights that are kept."""
        if config.splits or config.pipeline_stages == 1:
            return config
        whole = as_bytes(graph) if config.host_input == "bytes" else graph
        ipu = lay_out(config, graph.batch).system.variant(config.machine)
        weights = self._weights.get(plan_key(config, graph), lambda: weighed(whole, config, ipu))
        return replace(config, splits=chosen_splits(whole, config, ipu, weights))

    def _grouped(self, graph: Graph) -> Grouped:
        _, found = self._groups.get(id(graph), lambda: (graph, grouped(graph)))
        return found

    def _over(self, memory: MemoryMap, graph: Graph, ipu: Ipu) -> Overflow | None:
        _, found = self._overs.get(id(memory), lambda: (memory, overflow(memory, graph, ipu)))
        return found

    def _map(self, graph: Graph, assignment: Assignment, ipu: Ipu, kept: Held) -> MemoryMap:
        """A memory map that was made for the same plans, or a new one."""
        key = (id(assignment), str(kept))
        _, _, found = self._memory.get(key, lambda: (assignment, kept, memory_map(graph, assignment, ipu, kept)))
        return found


class _Kept(Generic[T]):
    """The latest few products by key."""

    def __init__(self, most: int = KEPT) -> None:
        self._held: OrderedDict[Hashable, T] = OrderedDict()
        self._most = most

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``key`` gave before, or what ``make`` gives now."""
        if key not in self._held:
            self._held[key] = make()
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        return self._held[key]
