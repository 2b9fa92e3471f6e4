"""One step of one replica in cycles: every operator, every tile, and what leaves the chip. All whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.graph.graph import Graph, Pass, Role
from simulator.machines.facts import Side
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.planner.assign import Assignment
from simulator.planner.shares import Ints, ceil_divide, spread
from simulator.schedule.outside import Outside, all_reduce, host_transfer
from simulator.units import Bytes, Cycles


@dataclass(frozen=True)
class TileTime:
    """Cycles of each tile, shape [tiles]: own compute, own exchange, sync; ``idle`` is waiting for slower tiles."""

    compute: Ints
    exchange: Ints
    sync: Ints
    idle: Ints


@dataclass(frozen=True)
class Timeline:
    """Columns of cycles, one row an operator (all its executions in a step); events outside; per-tile sums.

    In a superstep all wait for the slowest tile, so an operator takes the sum over supersteps of the largest compute,
    the largest exchange and the sync. ``total`` is the whole step.
    """

    compute: Ints
    exchange: Ints
    sync: Ints
    supersteps: int
    host: tuple[Outside, ...]
    collectives: tuple[Outside, ...]
    tiles: TileTime
    total: Cycles

    @property
    def operators(self) -> Ints:
        return self.compute + self.exchange + self.sync

    @property
    def outside(self) -> tuple[Outside, ...]:
        return self.host + self.collectives

    def cycles_of_pass(self, graph: Graph, wanted: Pass) -> Cycles:
        """Cycles of the operators of one pass; sums over replicas count as update, host transfers as forward."""
        cycles = int(self.operators[graph.ops.pass_ == wanted].sum())
        if wanted == Pass.UPDATE:
            cycles += sum(event.total for event in self.collectives)
        if wanted == Pass.FORWARD:
            cycles += sum(event.total for event in self.host)
        return cycles


def timeline(graph: Graph, assignment: Assignment, parallel: Parallel, ipu: Ipu) -> Timeline:
    """Order of events: host in, the operators, gradients summed before the update, host out."""
    repeats = graph.ops.repeats
    columns = np.array(
        [[sum(getattr(s, part) * s.times for s in plan.supersteps) for part in ("compute", "exchange", "sync")]
         for plan in assignment.plans], dtype=np.int64,
    ).reshape(-1, 3) * repeats[:, None]  # fmt: skip
    host, collectives = events(graph, parallel, ipu)
    total = int(columns.sum()) + sum(event.total for event in host + collectives)
    sync = int(columns[:, 2].sum()) + sum(event.sync for event in host + collectives)
    steps = sum(plan.superstep_count * int(n) for plan, n in zip(assignment.plans, repeats, strict=True))
    return Timeline(
        compute=columns[:, 0],
        exchange=columns[:, 1],
        sync=columns[:, 2],
        supersteps=steps,
        host=host,
        collectives=collectives,
        tiles=_tiles(graph, assignment, host + collectives, sync, total, ipu),
        total=total,
    )


def host_bytes(graph: Graph) -> tuple[Bytes, Bytes]:
    """Bytes that one replica receives from and sends to the host in a step."""
    roles = graph.tensors.role
    roots = graph.tensors.alias_of < 0
    given = roots & ((roles == Role.INPUT) | (roles == Role.LABEL))
    return int(graph.tensors.bytes[given].sum()), int(graph.tensors.bytes[roles == Role.OUTPUT].sum())


def events(
    graph: Graph, parallel: Parallel, ipu: Ipu, side: Side = "value"
) -> tuple[tuple[Outside, ...], tuple[Outside, ...]]:
    """Host transfers and collectives of a step."""
    received, sent = host_bytes(graph)
    host = (
        host_transfer("host to IPU", received, parallel, ipu, side),
        host_transfer("IPU to host", sent, parallel, ipu, side),
    )
    if not parallel.gradient_bytes:
        return host, ()
    return host, (all_reduce(parallel.gradient_bytes, parallel, ipu, side),)


def _tiles(
    graph: Graph, assignment: Assignment, outside: tuple[Outside, ...], sync: Cycles, total: Cycles, ipu: Ipu
) -> TileTime:
    compute = np.zeros(ipu.tiles, dtype=np.int64)
    exchange = np.zeros(ipu.tiles, dtype=np.int64)
    for plan, start, times in zip(assignment.plans, assignment.starts, graph.ops.repeats, strict=True):
        _add_rolled(compute, plan.compute, start, int(times))
        _add_rolled(exchange, plan.exchange, start, int(times))
    for event in outside:
        held = spread(event.bytes, ipu.tiles, ipu.tiles, 4)
        exchange += np.minimum(ceil_divide(held, ipu.exchange_bytes_per_cycle), event.transfer)
        compute += event.compute
    barrier = np.full(ipu.tiles, sync, dtype=np.int64)
    return TileTime(compute, exchange, barrier, total - compute - exchange - barrier)


def _add_rolled(total: Ints, amount: Ints, start: int, times: int) -> None:
    """Add ``amount``, counted from tile ``start`` and wrapping round, ``times`` over."""
    left = len(total) - start
    total[start:] += amount[:left] * times
    total[:start] += amount[left:] * times
