"""Simulates candidates of one model fast: one trace for all of them, whole IPUs only where they differ, no report."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from simulator.collecting import uncollected
from simulator.config import RunConfig
from simulator.graph.graph import Graph, Pass, Role
from simulator.graph.rebatch import Batches
from simulator.laying import Laid, chosen_splits, lay
from simulator.machines.constants import constants
from simulator.machines.ipu import Ipu
from simulator.memory.fit import overflow
from simulator.memory.of_ipu import memory_of
from simulator.memory.tilemap import MemoryMap
from simulator.parallel.stages import forward_sources
from simulator.pipeline import graph_of, open_model
from simulator.planner.pricing import priced
from simulator.report.costs import dollars_an_hour
from simulator.report.names import even_layers
from simulator.search.estimate import Work
from simulator.search.outcome import Outcome, Overfull
from simulator.units import Seconds

FEWEST_LAYERS, MOST_LAYERS = 4, 32  # that recomputation keeps the outputs of
STAYING = (Role.WEIGHT, Role.CONSTANT)


class Measured:
    """A model whose configurations are measured one after another. ``base`` is what they do not change."""

    def __init__(self, model: str | Path, base: RunConfig) -> None:
        self._model = model
        self._base = base
        self._graphs = Batches(self._trace)
        self._constants = constants(base.machine, sdk=base.sdk)
        self._whole = cache(self._on_one_ipu)
        self._splits = cache(self._balanced)

    @uncollected()
    def __call__(self, config: RunConfig) -> Outcome:
        """What ``config`` does. Raises SimulatorError where it is illegal."""
        laid = lay(self._graphs.at(config.batch), self.cut(config))
        found = laid.priced(self._constants)
        clock = laid.ipu.clock_hz
        seconds = found.total / clock / laid.parallel.samples
        memories = [self._memory(laid, place, config) for place in range(len(laid.planned))]
        free = tuple(laid.ipu.bytes_per_tile - int(memory.tile_bytes.max()) for memory, _ in memories)
        system, ipus = laid.parallel.system, laid.parallel.ipus
        watts = system.watts_for(ipus, config.hosts)
        hourly = dollars_an_hour(system, ipus, watts, laid.ipu)
        return Outcome(
            seconds=seconds,
            price=None if hourly is None else hourly / 3600 * seconds,
            joules=watts * seconds,
            step_seconds=found.total / clock,
            global_batch=laid.parallel.global_batch,
            headroom=min(free),
            overfull=min((over for _, over in memories if over), key=lambda over: -over.over_by, default=None),
            stage_seconds=tuple(((found.forward + found.backward) / clock).tolist()),
            ipu_free=free,
            splits=laid.staging.splits,
        )

    @property
    def nodes(self) -> tuple[str, ...]:
        """The model's nodes in the order in which they run."""
        return tuple(forward_sources(self._graphs.at(self._base.batch)))

    @property
    def layers(self) -> tuple[str, ...]:
        """Prefixes of the model's layers, whose outputs recomputation may keep."""
        return tuple(even_layers(self.nodes, FEWEST_LAYERS, MOST_LAYERS))

    def work(self, batch: int) -> Work:
        """The whole model on one IPU."""
        laid, cycles = self._whole(batch)
        passes, tensors = laid.graph.ops.pass_, laid.graph.tensors
        forward, update = passes == Pass.FORWARD, passes == Pass.UPDATE
        owned = tensors.alias_of < 0

        def seconds(chosen: np.ndarray) -> Seconds:
            return float(cycles[chosen].sum()) / laid.ipu.clock_hz

        return Work(
            batch=batch,
            forward=seconds(forward),
            backward=seconds(~forward & ~update),
            update=seconds(update),
            resident=int(tensors.bytes[owned & np.isin(tensors.role, STAYING)].sum()),
            state=int(tensors.bytes[owned & (tensors.role == Role.OPTIMISER_STATE)].sum()),
        )

    def cut(self, config: RunConfig) -> RunConfig:
        """``config`` with its stages named: balanced over the whole model on one IPU, the same at each batch."""
        if config.splits or config.pipeline_stages == 1:
            return config
        return replace(config, splits=self._splits(config.pipeline_stages))

    @property
    def ipu(self) -> Ipu:
        return self._whole(self._base.batch)[0].ipu

    def _balanced(self, stages: int) -> tuple[str, ...]:
        alone = replace(self._base, stages=stages, splits=(), stage_ipus=(), stage_proportions=())
        return chosen_splits(self._graphs.at(self._base.batch), alone, self.ipu)

    def _on_one_ipu(self, batch: int) -> tuple[Laid, np.ndarray]:
        """The plans, and the cycles of each operator."""
        alone = replace(
            self._base, batch=batch, stages=1, splits=(), stage_ipus=(), stage_proportions=(), accumulation=1,
            replicas=None, recompute="none", tensor_parallel=1,
        )  # fmt: skip
        laid = lay(self._graphs.at(batch), alone)
        cycles: np.ndarray = priced(laid.planned[0].features, self._constants).sum(axis=1)
        return laid, cycles

    def _memory(self, laid: Laid, place: int, config: RunConfig) -> tuple[MemoryMap, Overfull | None]:
        part, assignment = laid.planned[place].part, laid.planned[place].assignment
        memory = memory_of(part, assignment, laid.parallel, config, laid.ipu)
        over = overflow(memory, part.graph, laid.ipu)
        return memory, None if over is None else Overfull(part.ipu, over.tile, over.over_by, over.region)

    def _trace(self, batch: int) -> Graph:
        config = replace(self._base, batch=batch)
        return graph_of(open_model(self._model, config)[0], config)
