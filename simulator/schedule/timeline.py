"""One step of one IPU of a replica in cycles: every operator, every tile, what leaves the chip, and waiting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.graph.graph import Graph, Pass
from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.ipu import Ipu
from simulator.planner.assign import Assignment
from simulator.planner.pricing import tile_cycles
from simulator.planner.shares import Ints, ceil_divide, spread
from simulator.schedule.outside import Outside
from simulator.units import Cycles


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
    the largest exchange and the sync. ``bubble`` is waiting for other IPUs; ``total`` is the whole step, the same for
    all IPUs. ``executions``: how often each operator runs in a step.
    """

    compute: Ints
    exchange: Ints
    sync: Ints
    executions: Ints
    supersteps: int
    host: tuple[Outside, ...]
    collectives: tuple[Outside, ...]
    copies: tuple[Outside, ...]
    bubble: Cycles
    tiles: TileTime
    total: Cycles

    @property
    def operators(self) -> Ints:
        return self.compute + self.exchange + self.sync

    @property
    def outside(self) -> tuple[Outside, ...]:
        return self.host + self.collectives + self.copies

    def cycles_of_pass(self, graph: Graph, wanted: Pass) -> Cycles:
        """Cycles of the operators of one pass; sums over replicas count as update, other events as forward."""
        cycles = int(self.operators[graph.ops.pass_ == wanted].sum())
        if wanted == Pass.UPDATE:
            cycles += sum(event.total for event in self.collectives)
        if wanted == Pass.FORWARD:
            cycles += sum(event.total for event in self.host + self.copies)
        return cycles


def tile_time(
    assignment: Assignment,
    executions: Ints,
    outside: tuple[Outside, ...],
    sync: Cycles,
    total: Cycles,
    ipu: Ipu,
    constants: Constants = NOMINAL,
) -> TileTime:
    """What every tile does in a step of ``total`` cycles, ``sync`` of them in barriers."""
    compute = np.zeros(ipu.tiles, dtype=np.int64)
    exchange = np.zeros(ipu.tiles, dtype=np.int64)
    for plan, start, times in zip(assignment.plans, assignment.starts, executions.tolist(), strict=True):
        own_compute, own_exchange = tile_cycles(plan, constants)
        _add_rolled(compute, own_compute, start, times)
        _add_rolled(exchange, own_exchange, start, times)
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
