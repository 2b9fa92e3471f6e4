"""Time of an epoch and of a whole run: steps, and evaluations that only go forwards. Compiling is left out."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

from simulator.config import RunConfig
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.schedule.pipelining import pipelined
from simulator.schedule.step import Schedule
from simulator.units import Cycles, Seconds


@dataclass(frozen=True)
class RunTime:
    """``evaluation_seconds`` are of one evaluation, 0 where none is asked for."""

    samples: int
    epochs: float
    steps_an_epoch: int
    epoch_seconds: Seconds
    evaluations: int
    evaluation_seconds: Seconds
    run_seconds: Seconds

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def run_time(found: Schedule, parallel: Parallel, config: RunConfig, ipu: Ipu) -> RunTime | None:
    """None when nobody says how many samples there are. The last step of an epoch is a whole one."""
    if config.samples is None:
        return None
    steps = ceil(config.samples / parallel.samples)
    epoch = steps * found.total / ipu.clock_hz
    evaluation = evaluation_seconds(found, parallel, config.evaluation_samples or 0, ipu)
    times = config.evaluations if evaluation else 0
    return RunTime(
        config.samples, config.epochs, steps, epoch, times, evaluation, config.epochs * epoch + times * evaluation
    )


def evaluation_seconds(found: Schedule, parallel: Parallel, samples: int, ipu: Ipu) -> Seconds:
    """``samples`` forwards through all replicas, as fast as training goes forwards, with the host's share of it."""
    each = parallel.micro_batch * parallel.replicas * parallel.sequences_in_pack
    micro_batches = ceil(samples / each)
    if micro_batches == 0:
        return 0.0
    forward = found.forward.tolist()
    line = pipelined(forward, [0] * len(forward), parallel.stage_ipus, micro_batches, parallel.schedule)
    bringing = sum(event.total for event in found.host[:2]) / parallel.micro_batches
    cycles: Cycles = line.total + ceil(bringing * micro_batches)
    return cycles / ipu.clock_hz
