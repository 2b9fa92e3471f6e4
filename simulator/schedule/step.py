"""A whole step over all IPUs of a replica: stages in their pipeline, sums over replicas, update, host. In cycles.

Cheap on purpose: plans are counted once (``Planned``), and other constants only price them anew. What each tile does is
in ``timeline``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from simulator.graph.graph import Pass
from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.parallel.subgraphs import Hop, IpuGraph
from simulator.planner.assign import Assignment
from simulator.planner.pricing import features, in_three, priced
from simulator.planner.shares import Ints
from simulator.schedule.collectives import (
    PHASES,
    all_reduce,
    collective,
    joined_cycles,
    merged,
    one_after_another,
    summed_gradients,
)
from simulator.schedule.host import (
    Traffic,
    beside_compute,
    host_transfer,
    interpreter,
    optimiser_settings,
    state_transfer,
    supply_seconds,
    supply_wait,
    traffic_of,
)
from simulator.schedule.links import SHARED, once_a_step, stage_copies
from simulator.schedule.outside import Outside
from simulator.schedule.pipelining import Pipelined, pipeline_cycles, pipelined
from simulator.schedule.timeline import Timeline, tile_time
from simulator.units import Bytes, Cycles


@dataclass(frozen=True)
class Planned:
    """One IPU of a replica with its plans, counted once."""

    part: IpuGraph
    assignment: Assignment

    @cached_property
    def features(self) -> Ints:
        """Documented cycles of one execution of each operator by part. Shape [operators, parts]."""
        return features(self.assignment.plans) * self.part.graph.ops.repeats[:, None]

    @cached_property
    def supersteps(self) -> Ints:
        """Supersteps of one execution. Shape [operators]."""
        counts = [plan.superstep_count for plan in self.assignment.plans]
        found: Ints = np.array(counts, dtype=np.int64) * self.part.graph.ops.repeats
        return found

    @cached_property
    def gradient_bytes(self) -> Bytes:
        """What this IPU hands to the sum over replicas: gradients of the weights that it updates."""
        return sum(self.gradients)

    @cached_property
    def gradients(self) -> tuple[Bytes, ...]:
        """Bytes of each of those gradients, in the order in which the backward pass ends with them."""
        return tuple(summed_gradients(self.part.graph))

    @cached_property
    def updating(self) -> Ints:
        """1 for operators of the update, which run once a step; else 0. Shape [operators]."""
        return (self.part.graph.ops.pass_ == Pass.UPDATE).astype(np.int64)

    @cached_property
    def joined(self) -> Ints:
        """Bytes that each operator's results have to be summed over the IPUs of a stage. Shape [operators]."""
        ops = self.part.graph.ops
        return np.array([a.get("joined", 0) for a in ops.attributes], dtype=np.int64) * ops.repeats

    def by_stage(self, cycles: Ints, stages: int) -> tuple[Ints, Ints]:
        """Cycles of one micro-batch, forwards and backwards, in each stage. Shape [stages] each."""
        passes, stage_of = self.part.graph.ops.pass_, np.asarray(self.part.stage_of, dtype=np.int64)
        forward, backward = passes == Pass.FORWARD, (passes == Pass.BACKWARD) | (passes == Pass.RECOMPUTE)
        found = [
            np.bincount(stage_of[chosen], weights=cycles[chosen], minlength=stages).astype(np.int64)
            for chosen in (forward, backward)
        ]
        return found[0], found[1]


@dataclass(frozen=True)
class Schedule:
    """Cycles of a step. ``columns``: one array an IPU, shape [operators, 3]: compute, exchange, sync of one execution.

    ``forward`` and ``backward``: cycles of a micro-batch in each stage; ``update``: of each IPU.
    """

    columns: tuple[Ints, ...]
    executions: tuple[Ints, ...]
    forward: Ints
    backward: Ints
    update: tuple[Cycles, ...]
    pipeline: Pipelined
    host: tuple[Outside, ...]
    collectives: tuple[Outside, ...]
    copies: tuple[tuple[Outside, ...], ...]  # of each IPU: same cycles, its own bytes
    total: Cycles
    latency: Cycles  # of one micro-batch from host to host, in inference

    def bubble(self, ipu: int) -> Cycles:
        """Cycles in which IPU ``ipu`` waits for others of its replica."""
        return self.pipeline.bubble(ipu) + max(self.update) - self.update[ipu]

    @property
    def busiest(self) -> int:
        """The IPU that waits least."""
        return min(range(len(self.columns)), key=self.bubble)


def schedule(
    planned: Sequence[Planned],
    hops: Sequence[Hop],
    parallel: Parallel,
    ipu: Ipu,
    constants: Constants = NOMINAL,
    traffic: Traffic | None = None,
) -> Schedule:
    """Order of events: host in, micro-batches through the stages, gradients summed, update, host out.

    ``traffic`` with the host is counted anew unless it is given.
    """
    traffic = traffic or traffic_of([each.part.graph for each in planned])
    columns = tuple(in_three(priced(each.features, constants)) for each in planned)
    joins = [joined_cycles(each.joined, parallel.tensor_parallel, ipu, constants) for each in planned]
    sums = [column.sum(axis=1) + join for column, join in zip(columns, joins, strict=True)]
    both = [each.by_stage(cycles, parallel.stages) for each, cycles in zip(planned, sums, strict=True)]
    forward, backward = (np.sum([pair[side] for pair in both], axis=0) for side in (0, 1))
    update = tuple(int((cycles * each.updating).sum()) for each, cycles in zip(planned, sums, strict=True))
    line, moved = _through_the_stages(planned, forward, backward, joins, hops, parallel, ipu, constants)
    transfers = _host(traffic, parallel, ipu, constants)
    host = beside_compute(transfers, line.total, parallel, ipu)
    collectives = _collectives(planned, parallel, ipu, constants)
    late = sum(event.total for event in moved[0] if event.name == SHARED)
    busy = line.total + max(update) + late + sum(event.total for event in (*host, *collectives))
    waiting = supply_wait(supply_seconds(traffic, parallel, ipu, constants=constants), busy, parallel, ipu)
    return Schedule(
        columns=columns,
        executions=tuple(_executions(each, parallel) for each in planned),
        forward=forward,
        backward=backward,
        update=update,
        pipeline=line,
        host=host if waiting is None else (*host, waiting),
        collectives=collectives,
        copies=moved,
        total=busy + (waiting.total if waiting else 0),
        latency=sum(event.total for event in transfers) + _through_one(line, parallel),
    )


def _executions(each: Planned, parallel: Parallel) -> Ints:
    runs: Ints = each.part.graph.ops.repeats * np.where(each.updating, 1, parallel.micro_batches)
    return runs


def _through_one(line: Pipelined, parallel: Parallel) -> Cycles:
    """Cycles of one micro-batch from the first stage to the last, at the pace of a full pipeline."""
    return line.total * parallel.stages // max(1, pipeline_cycles(parallel.stages, parallel.micro_batches))


def _through_the_stages(
    planned: Sequence[Planned], forward: Ints, backward: Ints, joins: Sequence[Ints], hops: Sequence[Hop],
    parallel: Parallel, ipu: Ipu, constants: Constants,
) -> tuple[Pipelined, tuple[tuple[Outside, ...], ...]]:  # fmt: skip
    """The pipeline of a step, and what each IPU sends to others of its replica in it."""
    places, width = parallel.stage_ipus, parallel.tensor_parallel
    copies = stage_copies(hops, places, width, ipu, constants) if hops else None
    line = pipelined(forward, backward, places, parallel.micro_batches, parallel.schedule, copies)
    late = once_a_step(hops, places, width, ipu, constants)
    between = _copies(line, hops, parallel, 0 if copies is None else copies.sync, late)
    moved = zip(planned, joins, between, strict=True)
    return line, tuple((*events, *_joining(each, join, parallel)) for each, join, events in moved)


def _host(traffic: Traffic, parallel: Parallel, ipu: Ipu, constants: Constants) -> tuple[Outside, ...]:
    received = 0 if parallel.feed.on_device else traffic.received * parallel.micro_batches
    sent = traffic.sent * parallel.micro_batches
    events: tuple[Outside, ...] = (
        host_transfer("host to IPU", received, parallel, ipu, constants=constants),
        host_transfer("IPU to host", sent, parallel, ipu, constants=constants),
    )
    settings = optimiser_settings(traffic.weights, parallel, ipu, constants)
    events = (*events, *(each for each in (interpreter(parallel, ipu, constants), settings) if each is not None))
    amount, tensors = traffic.state
    if not (parallel.training and parallel.offload_optimiser and amount):
        return events
    return (*events, state_transfer(amount, tensors, parallel, ipu, constants=constants))


def _collectives(planned: Sequence[Planned], parallel: Parallel, ipu: Ipu, constants: Constants) -> tuple[Outside, ...]:
    """Those of the IPU with most gradients, in as many sums as they are merged into."""
    most = max(planned, key=lambda each: each.gradient_bytes)
    if not (parallel.training and parallel.replicas > 1 and most.gradient_bytes):
        return ()
    sums = merged(most.gradients, ipu)
    if parallel.shard_optimiser:
        phases = ([collective(phase, each, parallel, ipu, constants=constants) for each in sums] for phase in PHASES)
        return tuple(map(one_after_another, phases))
    return (one_after_another([all_reduce(each, parallel, ipu, constants=constants) for each in sums]),)


def _joining(each: Planned, cycles: Ints, parallel: Parallel) -> tuple[Outside, ...]:
    """Sums of shared products over the IPUs of a stage in a step, none when stages are single IPUs."""
    total = int(cycles.sum()) * parallel.micro_batches
    if not total:
        return ()
    width, times = parallel.tensor_parallel, int(np.count_nonzero(cycles)) * parallel.micro_batches
    crossing = 2 * (width - 1) * int(each.joined.sum()) * parallel.micro_batches // width
    return (Outside("joined products", crossing, total, 0, times=times),)


def _copies(
    line: Pipelined, hops: Sequence[Hop], parallel: Parallel, sync: Cycles, late: Outside | None
) -> tuple[tuple[Outside, ...], ...]:
    """The copies as each IPU of the replica sees them."""
    touched = [0] * (max(parallel.stage_ipus) + 1)
    for hop in hops:
        if hop.pass_ != Pass.UPDATE:
            for stage in (hop.source, hop.target):
                touched[parallel.stage_ipus[stage]] += hop.bytes * parallel.micro_batches
    barrier = line.copies * sync
    more = () if late is None else (late,)
    if not line.copies:
        return tuple(more for _ in touched)
    return tuple(
        (Outside("between stages", amount, line.copying - barrier, barrier, times=line.copies), *more)
        for amount in touched
    )


def timeline(
    planned: Sequence[Planned], found: Schedule, ipu_of_replica: int, ipu: Ipu, constants: Constants = NOMINAL
) -> Timeline:
    """The step as one IPU of the replica spends it."""
    each, place = planned[ipu_of_replica], ipu_of_replica
    runs = found.executions[place] // each.part.graph.ops.repeats
    columns = found.columns[place] * runs[:, None]
    outside = (*found.host, *found.collectives, *found.copies[place])
    bubble = found.bubble(place)
    sync = int(columns[:, 2].sum()) + sum(event.sync for event in outside)
    return Timeline(
        compute=columns[:, 0],
        exchange=columns[:, 1],
        sync=columns[:, 2],
        executions=found.executions[place],
        supersteps=int((each.supersteps * runs).sum()),
        host=found.host,
        collectives=found.collectives,
        copies=found.copies[place],
        bubble=bubble,
        tiles=tile_time(each.assignment, found.executions[place], outside, sync, found.total, ipu, constants),
        total=found.total,
    )
