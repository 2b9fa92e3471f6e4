"""What planning an operator yields: per-tile cycles and bytes in whole numbers, counted from wherever it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

import numpy as np

from simulator.machines.facts import whole
from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange
from simulator.planner.shares import Ints

# plans that each planner remembers between graphs: about 80 KB each
PLANS_KEPT = 1024


@dataclass(frozen=True)
class Step:
    """One superstep before pricing: an exchange (or none), then a compute set (or none), ``times`` over."""

    name: str
    exchange: Exchange | None = None
    compute: Ints | None = None
    times: int = 1


@dataclass(frozen=True)
class Superstep:
    """Cycles of one superstep: those of its slowest tile, and of the barrier."""

    name: str
    compute: int
    exchange: int
    sync: int
    times: int

    @property
    def total(self) -> int:
        return (self.compute + self.exchange + self.sync) * self.times


@dataclass(frozen=True, eq=False)
class Plan:
    """One execution of one operator. Arrays have shape [tiles]; tile 0 is where the schedule starts it.

    ``compute`` and ``exchange`` are each tile's own cycles, ``temporary`` the bytes it needs only while this runs,
    ``outputs`` the elements of the (first) output it ends with. ``operands`` holds the elements of each operand that
    the plan wants resident (weights), or None. ``delivered`` must equal ``received``: see ``Exchange``.
    """

    method: str
    splits: tuple[tuple[str, int], ...]
    supersteps: tuple[Superstep, ...]
    compute: Ints
    exchange: Ints
    temporary: Ints
    exchange_code: Ints
    vertex_state: Ints
    outputs: Ints
    codelets: tuple[str, ...]
    flops: int = 0
    sent: int = 0
    received: int = 0
    delivered: int = 0
    operands: tuple[Ints | None, ...] = ()
    modelled: bool = True

    @property
    def cycles(self) -> int:
        return sum(step.total for step in self.supersteps)

    @cached_property
    def content(self) -> bytes:
        """Equal for plans that run the same code on the same tiles, whichever object they are."""
        columns = (self.compute, self.exchange, self.exchange_code, self.vertex_state)
        named = repr((self.method, self.splits, self.codelets, self.supersteps)).encode()
        return sha256(named + b"".join(column.tobytes() for column in columns)).digest()

    @property
    def tiles_used(self) -> int:
        return int(np.count_nonzero(self.compute + self.exchange))

    @property
    def superstep_count(self) -> int:
        return sum(step.times for step in self.supersteps)


@dataclass
class Recipe:
    """The parts of a plan that the operator decides; ``assemble`` prices them."""

    method: str
    steps: Sequence[Step]
    outputs: Ints
    codelets: tuple[str, ...]
    splits: tuple[tuple[str, int], ...] = ()
    temporary: Ints | None = None
    flops: int = 0
    operands: tuple[Ints | None, ...] = ()
    modelled: bool = True
    vertices: int = field(default=1)  # vertices a tile and compute set


def assemble(recipe: Recipe, ipu: Ipu) -> Plan:
    """Price the steps of ``recipe`` on ``ipu``: own cycles of each tile, and of the slowest tile in each step."""
    zeros = np.zeros(ipu.tiles, dtype=np.int64)
    compute, exchange, code, state = zeros.copy(), zeros.copy(), zeros.copy(), zeros.copy()
    supersteps = []
    sent = received = delivered = 0
    for step in recipe.steps:
        work = zeros if step.compute is None else step.compute
        moved = zeros if step.exchange is None else step.exchange.cycles(ipu)
        compute += work * step.times
        exchange += moved * step.times
        state += (work > 0) * (whole("codelet.vertex_state") * recipe.vertices)
        sync = ipu.sync_cycles
        if step.exchange is not None:
            code += step.exchange.code_bytes()
            sent += int(step.exchange.send.sum()) * step.times
            received += int(step.exchange.receive.sum()) * step.times
            delivered += step.exchange.copies_bytes * step.times
            sync += ipu.exchange_skew_cycles if moved.any() else 0
        supersteps.append(Superstep(step.name, int(work.max()), int(moved.max()), sync, step.times))
    return Plan(
        method=recipe.method,
        splits=recipe.splits,
        supersteps=tuple(supersteps),
        compute=compute,
        exchange=exchange,
        temporary=zeros if recipe.temporary is None else recipe.temporary,
        exchange_code=code,
        vertex_state=state,
        outputs=recipe.outputs,
        codelets=recipe.codelets,
        flops=recipe.flops,
        sent=sent,
        received=received,
        delivered=delivered,
        operands=recipe.operands,
        modelled=recipe.modelled,
    )
