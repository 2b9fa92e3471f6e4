"""What planning an operator yields: per-tile cycles and bytes in whole numbers, counted from wherever it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from hashlib import sha256

import numpy as np

from simulator.machines.facts import whole
from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange
from simulator.planner.shares import Ints

# plans that each planner remembers between graphs: about 80 KB each
PLANS_KEPT = 1024


class Part(IntEnum):
    """What cycles belong to, so that each kind can be priced apart. The first five are compute."""

    MATRIX = 0  # matrix unit, dot product, depthwise
    VECTOR = 1  # element-wise codelets, pooling, random numbers, sorting, scalar loops
    REDUCE = 2  # sums over partials or over the elements of a tile
    COPY = 3  # rearrangement on a tile
    SLICE = 4  # rows taken from or added to tables; kernels written by hand, whose instructions are counted
    EXCHANGE = 5
    SYNC = 6


COMPUTE_PARTS = (Part.MATRIX, Part.VECTOR, Part.REDUCE, Part.COPY, Part.SLICE)


@dataclass(frozen=True)
class Step:
    """One superstep before pricing: an exchange (or none), then a compute set (or none), ``times`` over."""

    name: str
    exchange: Exchange | None = None
    compute: Ints | None = None
    part: Part = Part.VECTOR
    times: int = 1


@dataclass(frozen=True)
class Superstep:
    """Documented cycles of one superstep: those of its slowest tile, and of the barrier."""

    name: str
    part: Part
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

    ``compute`` and ``exchange`` are each tile's own cycles, ``by_part`` the compute cycles by what they belong to,
    ``temporary`` the bytes it needs only while this runs,
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
    by_part: tuple[tuple[Part, Ints], ...] = ()

    @property
    def cycles(self) -> int:
        """Documented cycles; what they cost under other constants is in ``pricing``."""
        return sum(step.total for step in self.supersteps)

    @cached_property
    def features(self) -> tuple[int, ...]:
        """Documented cycles by ``Part``, each superstep waiting for its slowest tile."""
        found = [0] * len(Part)
        for step in self.supersteps:
            found[step.part] += step.compute * step.times
            found[Part.EXCHANGE] += step.exchange * step.times
            found[Part.SYNC] += step.sync * step.times
        return tuple(found)

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
    """What the operator decides of a plan; ``assemble`` counts it."""

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
    """Count the steps of ``recipe`` on ``ipu``: own cycles of each tile, and of the slowest tile in each step."""
    zeros = np.zeros(ipu.tiles, dtype=np.int64)
    exchange, code, state = zeros.copy(), zeros.copy(), zeros.copy()
    by_part: dict[Part, Ints] = {}
    supersteps = []
    sent = received = delivered = 0
    for step in recipe.steps:
        work = zeros if step.compute is None else step.compute
        moved = zeros if step.exchange is None else step.exchange.cycles(ipu)
        if step.compute is not None:
            by_part[step.part] = by_part.get(step.part, zeros) + work * step.times
        exchange += moved * step.times
        state += (work > 0) * (whole("codelet.vertex_state") * recipe.vertices)
        sync = ipu.sync_cycles
        if step.exchange is not None:
            code += step.exchange.code_bytes(ipu)
            sent += int(step.exchange.send.sum()) * step.times
            received += int(step.exchange.receive.sum()) * step.times
            delivered += step.exchange.copies_bytes * step.times
            sync += ipu.exchange_skew_cycles if moved.any() else 0
        supersteps.append(Superstep(step.name, step.part, int(work.max()), int(moved.max()), sync, step.times))
    return Plan(
        method=recipe.method,
        splits=recipe.splits,
        supersteps=tuple(supersteps),
        compute=sum(by_part.values(), start=zeros),
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
        by_part=tuple(sorted(by_part.items())),
    )
