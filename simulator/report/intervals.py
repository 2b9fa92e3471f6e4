"""The error bar of headline figures. No constant is fitted yet, so it is wide and says why."""

from __future__ import annotations

from typing import Any

from simulator.machines.facts import Side, fact
from simulator.report.parts import Parts
from simulator.schedule.timeline import events

BASIS = "uncalibrated first model: documented constants priced over their bounds, and a general allowance for the model"


def step_cycles(parts: Parts, side: Side) -> float:
    """Cycles of a step when every bounded constant is at its ``side`` and work errs by the general allowance."""
    line = parts.timeline
    error = 1 + fact("planner.model_error")
    work = int(line.compute.sum()) + int(line.exchange.sum())
    barrier = fact("sync.internal", side) + fact("exchange.skew", side)
    host, collectives = events(parts.graph, parts.parallel, parts.ipu, side)
    outside = sum(event.total for event in host + collectives)
    return (work / error if side == "low" else work * error) + line.supersteps * barrier + outside


def intervals(parts: Parts) -> dict[str, Any]:
    """``step_seconds`` and ``samples_per_second``, each [low, high], and what they rest on."""
    fast, slow = (step_cycles(parts, side) / parts.ipu.clock_hz for side in ("low", "high"))
    now = parts.seconds(parts.timeline.total)
    fast, slow = min(fast, now), max(slow, now)
    batch = parts.parallel.global_batch
    return {
        "step_seconds": [fast, slow],
        "samples_per_second": [batch / slow, batch / fast],
        "basis": BASIS,
    }
