"""Conservation laws that every simulation must obey. A broken one is a fault of ours and stops the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.errors import SimulatorError
from simulator.report.parts import Parts


def checks(parts: Parts) -> list[dict[str, Any]]:
    """Every law with its figures. Raises ``report.conservation`` (owner platform) when one does not hold."""
    found = [_tiles_add_up(parts), _operators_add_up(parts), _sent_is_received(parts), _memory_adds_up(parts)]
    broken = [check for check in found if not check["ok"]]
    if broken:
        raise SimulatorError(
            "report.conservation",
            "The simulation contradicts itself: " + "; ".join(f"{c['name']} ({c['detail']})" for c in broken),
            owner="platform",
            params={"checks": broken},
        )
    return found


def _check(name: str, ok: bool, detail: str) -> dict[str, Any]:
    return {"name": name, "ok": bool(ok), "detail": detail}


def _tiles_add_up(parts: Parts) -> dict[str, Any]:
    tiles = parts.timeline.tiles
    sums = tiles.compute + tiles.exchange + tiles.sync + tiles.idle
    least = min(int(column.min()) for column in (tiles.compute, tiles.exchange, tiles.sync, tiles.idle))
    ok = bool((sums == parts.timeline.total).all()) and least >= 0
    detail = f"compute + exchange + sync + idle = {parts.timeline.total} cycles on each of {len(sums)} tiles"
    return _check("time of every tile", ok, detail)


def _operators_add_up(parts: Parts) -> dict[str, Any]:
    line = parts.timeline
    within, outside = int(line.operators.sum()), sum(event.total for event in line.outside)
    detail = f"operators {within} + outside {outside} = {line.total} cycles"
    return _check("time of operators", within + outside == line.total, detail)


def _sent_is_received(parts: Parts) -> dict[str, Any]:
    plans = list(zip(parts.assignment.plans, parts.graph.ops.repeats, strict=True))
    delivered = sum(plan.delivered * int(times) for plan, times in plans)
    received = sum(plan.received * int(times) for plan, times in plans)
    sent = sum(plan.sent * int(times) for plan, times in plans)
    ok = delivered == received and all(plan.sent <= plan.received for plan, _ in plans)
    return _check("exchange", ok, f"{sent} bytes sent, each copy counted {delivered}, {received} received")


def _memory_adds_up(parts: Parts) -> dict[str, Any]:
    memory, tensors = parts.memory, parts.graph.tensors
    wanted: dict[str, int] = {}
    for root, category in memory.live:
        wanted[category] = wanted.get(category, 0) + int(tensors.bytes[root])
    placed = {category: int(memory.by_tile[category].sum()) for category in wanted}
    least = min(int(np.min(column)) for column in memory.by_tile.values())
    detail = ", ".join(f"{category} {amount}" for category, amount in sorted(placed.items())) + " bytes over all tiles"
    return _check("memory of tensors", placed == wanted and least >= 0, detail)
