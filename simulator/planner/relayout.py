"""Operands that lie otherwise than the matrix unit reads them: the step that puts them in order, and its cycles."""

from __future__ import annotations

from functools import lru_cache

from simulator.machines.ipu import Ipu
from simulator.planner.contraction import Contraction, asked_order
from simulator.planner.exchange import exchange, run_of
from simulator.planner.plan import Part, Step
from simulator.planner.shares import ceil_divide, spread
from simulator.units import Cycles


def relayout(asked: Contraction, problem: Contraction, ipu: Ipu) -> list[Step]:
    """Operands of ``asked`` are moved and put in order, evenly over all tiles, before ``problem``, its restatement.

    PopLibs charges 5 cycles for every 4 elements, and 5 for every 3 where channels do not fill 8-byte grains.
    An operand that tiles rearrange anyway (``problem.copied``) is put in order by that.
    """
    sides = (
        asked.groups * asked.batch * asked.in_rows * asked.in_width * asked.ins,
        asked.groups * asked.taps * asked.ins * asked.outs,
    )
    needed = [
        not done and (relaid or (asked.misaligned and not resident))
        for relaid, resident, done in zip(
            asked.relaid, asked.resident, asked_order(problem, problem.copied), strict=True
        )
    ]
    elements = sum(size for size, wanted in zip(sides, needed, strict=True) if wanted)
    if not elements:
        return []
    held = spread(elements, ipu.tiles, ipu.tiles, max(1, ipu.atom_bytes // asked.element))
    moved = exchange(
        held * asked.element, held * asked.element, piece=run_of(elements * asked.element, ipu),
        copies_bytes=elements * asked.element,
    )  # fmt: skip
    return [Step("relay operands", moved, ceil_divide(held * 5, 3 if asked.misaligned else 4), Part.COPY)]


@lru_cache(maxsize=1024)
def relayout_cycles(asked: Contraction, problem: Contraction, ipu: Ipu) -> Cycles:
    """Documented cycles of ``relayout``, its barrier included."""
    found = 0
    for step in relayout(asked, problem, ipu):
        moved = 0 if step.exchange is None else int(step.exchange.cycles(ipu).max())
        work = 0 if step.compute is None else int(step.compute.max())
        found += moved + work + ipu.superstep_cycles
    return found
