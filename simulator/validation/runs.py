"""Runs cases through the engine as far as their time, each distinct one once; others constants only price it anew.

Memory is not allocated here and no report is built: a published run is known to have fitted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np

from simulator.comparator.gpus import gpu
from simulator.comparator.roofline import on_gpus
from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.laying import Laid, lay
from simulator.machines.constants import Constants, constants
from simulator.pipeline import graph_of, open_model
from simulator.program import Program

# settings that a graph depends on; all others lay, price or time it
TRACED = (
    "task", "batch", "dims", "optimiser", "momentum", "learning_rate", "precision", "partials", "state_precision",
    "loss_scale", "framework",
)  # fmt: skip


# the sum over a kernel's result that keeps it from being dropped is no part of the kernel
KEPT_ALIVE = frozenset({"sum_up"})


@dataclass(frozen=True)
class Outcome:
    """What a prediction is made of: seconds of one step of the whole system and its samples, packed ones unpacked.

    ``device_*`` leave out host and collectives.
    """

    step_seconds: float
    samples: float
    device_cycles: int
    device_seconds: float
    parameters: int

    @property
    def samples_per_second(self) -> float:
        return self.samples / self.step_seconds


class Runs:
    """Laid graphs by model and settings."""

    def __init__(self) -> None:
        self._graphs: dict[str, tuple[Program, Graph]] = {}
        self._laid: dict[str, tuple[Program, Laid]] = {}

    def graph(self, model: str, config: RunConfig) -> tuple[Program, Graph]:
        """One micro-batch, traced once for all settings that it does not depend on."""
        values = config.to_dict()
        key = model + json.dumps([values[name] for name in TRACED], sort_keys=True)
        if key not in self._graphs:
            program, _ = open_model(model, config)
            self._graphs[key] = (program, graph_of(program, config))
        return self._graphs[key]

    def laid(self, model: str, config: RunConfig) -> tuple[Program, Laid]:
        """Planned on the IPUs of its system. Raises SimulatorError where the engine refuses the run."""
        key = model + json.dumps(config.to_dict(), sort_keys=True)
        if key not in self._laid:
            program, graph = self.graph(model, config)
            self._laid[key] = (program, lay(graph, config))
        return self._laid[key]

    def outcome(self, model: str, config: RunConfig, priced: Constants | None = None) -> Outcome:
        """Times under ``priced`` constants (None: those of the engine)."""
        program, laid = self.laid(model, config)
        used = constants(config.machine, sdk=config.sdk) if priced is None else priced
        schedule = laid.priced(used)
        outside = sum(event.total for event in (*schedule.host, *schedule.collectives))
        return Outcome(
            step_seconds=schedule.total / laid.ipu.clock_hz,
            samples=_samples(laid),
            device_cycles=schedule.total - outside,
            device_seconds=(schedule.total - outside) / laid.ipu.clock_hz,
            parameters=program.parameters,
        )

    def on_gpus(
        self, model: str, config: RunConfig, chip: str, gpus: int, rows: int, priced: Constants | None = None
    ) -> Outcome:
        """The same model on GPUs by the comparator, ``rows`` of a batch on each."""
        program, graph = self.graph(model, replace(config, batch=rows))
        used = constants() if priced is None else priced
        samples = rows * gpus * config.sequences_in_pack
        found = on_gpus(graph, gpu(chip), gpus=gpus, samples=samples, constants=used, left_out=KEPT_ALIVE)
        return Outcome(found.step_seconds, samples, 0, found.device_seconds, program.parameters)

    def coverage(self, model: str, config: RunConfig) -> float:
        """Share of operators' cycles that are costed by a model of their own."""
        _, laid = self.laid(model, config)
        plans = [plan for each in laid.planned for plan in each.assignment.plans]
        cycles = np.array([plan.cycles for plan in plans], dtype=float)
        modelled = np.array([plan.modelled for plan in plans], dtype=bool)
        return float(cycles[modelled].sum() / cycles.sum()) if cycles.sum() else 1.0


def _samples(laid: Laid) -> float:
    """Of what a schedule times: a whole step in training, all micro-batches of a host call in inference."""
    parallel = laid.parallel
    return parallel.micro_batch * parallel.micro_batches * parallel.replicas * parallel.sequences_in_pack
