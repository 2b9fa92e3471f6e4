"""When the stages of a pipeline run: cycles of fill, of full work and of drain, and who waits in each.

It knows only cycles a stage takes, forwards and backwards, and what a copy between stages takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
import numpy.typing as npt

from simulator.planner.shares import Ints
from simulator.units import Cycles

# executions of this kind of cycle, stages that run forwards in it, stages that run backwards
Bools = npt.NDArray[np.bool_]
Beat = tuple[int, Bools, Bools]


@dataclass(frozen=True)
class Pipelined:
    """``total``: cycles until all micro-batches are through. ``copying`` of them go to copies between IPUs.

    ``busy``: cycles each IPU works in that time, shape [ipus]; what is left of ``total`` is its bubble.
    """

    total: Cycles
    copying: Cycles
    copies: int
    busy: tuple[Cycles, ...]

    def bubble(self, ipu: int) -> Cycles:
        """Cycles in which IPU ``ipu`` waits for others: fill, drain, slower stages."""
        return self.total - self.copying - self.busy[ipu]


@dataclass(frozen=True)
class Copies:
    """Cycles that each stage's sending takes on each link, shape [stages, links], up and down; and of the barrier."""

    up: npt.NDArray[np.float64]
    down: npt.NDArray[np.float64]
    sync: Cycles

    def cycles(self, runs: Bools, returns: Bools) -> Cycles:
        """The busiest link when stages ``runs`` went forwards and ``returns`` backwards."""
        busiest = float((runs @ self.up + returns @ self.down).max())
        return ceil(busiest) + self.sync if busiest > 0 else 0


def pipeline_cycles(stages: int, micro_batches: int) -> int:
    """Cycles of forward and backward work of one stage that a step takes when all stages are equal (PopART)."""
    return micro_batches + stages - 1


def stash_depth(schedule: str, stages: int, stage: int, micro_batches: int) -> int:
    """Micro-batches whose activations stage ``stage`` holds at once: between its forward and its backward pass."""
    return waiting(schedule, stages, stage, stage, micro_batches, back=True) + 1


def waiting(schedule: str, stages: int, made: int, read: int, micro_batches: int, *, back: bool) -> int:
    """Newer micro-batches that stage ``made`` goes forwards with before stage ``read`` reads what it made.

    ``read`` may be the same stage or a later one on the same IPU; ``back``: it reads in its backward pass.
    """
    if schedule == "sequential":
        return 0
    period = 2 if schedule == "interleaved" else 1
    cycles = (2 * (stages - 1) + (period - 1) - read - made) if back else read - made
    return max(0, min(cycles // period, micro_batches - 1))


def pipelined(
    forward: Sequence[Cycles] | Ints,
    backward: Sequence[Cycles] | Ints,
    stage_ipus: Sequence[int],
    micro_batches: int,
    schedule: str,
    copies: Copies | None = None,
) -> Pipelined:
    """Time of ``micro_batches`` through the stages; ``forward`` and ``backward`` are cycles of one micro-batch.

    The copies of a cycle run at once, after the work of all: a superstep of its own that all IPUs take part in.
    """
    f, b = np.asarray(forward, np.int64), np.asarray(backward, np.int64)
    places = np.asarray(stage_ipus)
    ipus = int(places.max()) + 1
    on = np.zeros((ipus, len(f)), dtype=np.int64)
    on[places, np.arange(len(f))] = 1
    total = copying = count = 0
    for times, runs, returns in beats(schedule, len(f), micro_batches, bool(b.any())):
        work = on @ (f * runs + b * returns)
        copy = 0 if copies is None else copies.cycles(runs, returns)
        total += times * (int(work.max()) + copy)
        copying += times * copy
        count += times * (copy > 0)
    busy = micro_batches * (on @ (f + b))
    return Pipelined(total, copying, count, tuple(busy.tolist()))


def beats(schedule: str, stages: int, micro_batches: int, back: bool) -> Iterator[Beat]:
    """Every kind of cycle with how often it happens; the many equal ones of a full pipeline are one."""
    if schedule == "sequential" or stages == 1:
        yield from _sequential(stages, micro_batches, back)
        return
    order = np.arange(stages)
    if not back:
        ramp, period, length = stages - 1, 1, micro_batches + stages - 1
    elif schedule == "grouped":
        ramp, period, length = 2 * stages - 2, 1, micro_batches + 2 * stages - 2
    else:
        ramp, period, length = 2 * stages, 2, 2 * (micro_batches + stages - 1)

    def beat(time: int, times: int) -> Beat:
        return (
            times,
            _runs(time - order, period, micro_batches),
            _runs(time - length + 1 + ramp_back, period, micro_batches),
        )

    # the pass of the last micro-batch ends at stage 0: counted from the end, backward work mirrors forward work
    ramp_back = period * (micro_batches - 1) + order if back else order - 4 * length
    full = max(0, period * micro_batches - ramp - period) // period
    for time in range(ramp):
        yield beat(time, 1)
    if full:
        for phase in range(period):
            yield beat(ramp + phase, full)
    for time in range(ramp + full * period, length):
        yield beat(time, 1)


def _runs(since: Ints, period: int, micro_batches: int) -> Bools:
    """Whether a stage works on a micro-batch now, given the time ``since`` its first one."""
    return (since >= 0) & (since % period == 0) & (since < period * micro_batches)


def _sequential(stages: int, micro_batches: int, back: bool) -> Iterator[Beat]:
    none = np.zeros(stages, dtype=bool)
    alone = np.eye(stages, dtype=bool)
    if stages == 1:
        yield micro_batches, alone[0], alone[0] if back else none
        return
    for stage in range(stages):
        yield micro_batches, alone[stage], none
    for stage in range(stages) if back else ():
        yield micro_batches, none, alone[stage]
