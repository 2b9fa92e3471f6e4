"""Conservation laws that every simulation must obey. A broken one is a fault of ours and stops the report.

Each law is checked on every IPU of a replica; the report tells one line a law.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.errors import SimulatorError
from simulator.graph.graph import Kind
from simulator.report.parts import IpuClass, Parts
from simulator.report.roofline import MATRIX_KINDS, peaks

ROUNDING = 1e-9


@dataclass(frozen=True)
class Finding:
    """Whether a law holds on one IPU, and the figures that it compares."""

    ok: bool
    detail: str


Law = Callable[[Parts, IpuClass], Finding]


def checks(parts: Parts) -> list[dict[str, Any]]:
    """Every law with its figures. Raises ``report.conservation`` (owner platform) when one does not hold."""
    found = [_told(name, ((each, law(parts, each)) for each in parts.classes)) for name, law in LAWS.items()]
    broken = [check for check in found if not check["ok"]]
    if broken:
        raise SimulatorError(
            "report.conservation",
            "The simulation contradicts itself: " + "; ".join(f"{c['name']} ({c['detail']})" for c in broken),
            owner="platform",
            params={"checks": broken},
        )
    return found


def _told(name: str, findings: Iterable[tuple[IpuClass, Finding]]) -> dict[str, Any]:
    """The first IPU that breaks the law, or else the first with how many obey it too."""
    every = list(findings)
    where, shown = next(((each, f) for each, f in every if not f.ok), every[0])
    more = f" (IPU {where.ipu} of {len(every)})" if len(every) > 1 else ""
    return {"name": name, "ok": bool(shown.ok), "detail": shown.detail + more}


def _tiles_add_up(parts: Parts, each: IpuClass) -> Finding:
    tiles, total = each.timeline.tiles, parts.step_cycles
    columns = (tiles.compute, tiles.exchange, tiles.sync, tiles.idle)
    sums: Any = sum(columns)
    ok = bool((sums == total).all()) and min(int(column.min()) for column in columns) >= 0
    return Finding(ok, f"compute + exchange + sync + idle = {total} cycles on each of {len(tiles.idle)} tiles")


def _operators_add_up(parts: Parts, each: IpuClass) -> Finding:
    line = each.timeline
    within, outside = int(line.operators.sum()), sum(event.total for event in line.outside)
    ok = within + outside + line.bubble == line.total == parts.step_cycles and line.bubble >= 0
    waiting = f" + waiting {line.bubble}" if line.bubble else ""
    return Finding(ok, f"operators {within} + outside {outside}{waiting} = {line.total} cycles")


def _sent_is_received(_: Parts, each: IpuClass) -> Finding:
    plans = list(zip(each.assignment.plans, each.timeline.executions.tolist(), strict=True))
    delivered = sum(plan.delivered * times for plan, times in plans)
    received = sum(plan.received * times for plan, times in plans)
    sent = sum(plan.sent * times for plan, times in plans)
    ok = delivered == received and all(plan.sent <= plan.received for plan, _ in plans)
    return Finding(ok, f"{sent} bytes sent, each copy counted {delivered}, {received} received")


def _memory_adds_up(_: Parts, each: IpuClass) -> Finding:
    memory = each.memory
    wanted: dict[str, int] = {"stash": memory.passing}
    for (_root, category), amount in zip(memory.live, memory.live_bytes, strict=True):
        wanted[category] = wanted.get(category, 0) + amount
    placed = {category: int(memory.by_tile[category].sum()) for category in wanted}
    least = min(int(np.min(column)) for column in memory.by_tile.values())
    detail = ", ".join(f"{category} {amount}" for category, amount in sorted(placed.items())) + " bytes over all tiles"
    return Finding(placed == wanted and least >= 0, detail)


def _liveness_holds(_: Parts, each: IpuClass) -> Finding:
    """Never negative, and at the fullest step what the tiles hold."""
    memory = each.memory
    if not len(memory.not_always_live):
        return Finding(True, "no operators")
    held = memory.always_live + int(memory.not_always_live[memory.worst_step])
    placed = int(memory.tile_bytes.sum())
    ok = int(memory.not_always_live.min()) >= 0 and held == placed
    return Finding(ok, f"{placed} bytes on tiles when the fullest is at its fullest, {held} alive")


def _within_peak(parts: Parts, each: IpuClass) -> Finding:
    """No operator does more work than its unit could in its compute cycles."""
    roofs = peaks(parts.config, parts.ipu)
    rate = {
        matrix: roofs[name] / parts.ipu.clock_hz for matrix, name in ((True, "matrix_flops"), (False, "vector_flops"))
    }
    most = 0.0
    columns = zip(
        each.assignment.plans, each.timeline.executions, each.timeline.operators, each.graph.ops.kind, strict=True
    )
    for plan, times, cycles, kind in columns:
        if plan.flops:
            matrix = Kind(kind).name.lower() in MATRIX_KINDS
            most = max(most, plan.flops * int(times) / (rate[matrix] * max(1, int(cycles))))
    return Finding(most <= 1 + ROUNDING, f"the best operator reaches {most:.1%} of its unit's peak")


LAWS: dict[str, Law] = {
    "time of every tile": _tiles_add_up,
    "time of operators": _operators_add_up,
    "exchange": _sent_is_received,
    "memory of tensors": _memory_adds_up,
    "liveness": _liveness_holds,
    "utilisation": _within_peak,
}
