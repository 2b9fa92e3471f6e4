"""Time in the report: where a step goes, what binds it in a sentence, cycles of tiles, the order of operators."""

from __future__ import annotations

from typing import Any

from simulator.graph.graph import Pass
from simulator.report.parts import Parts
from simulator.report.spans import KINDS, Names, Row, time_line
from simulator.schedule.outside import Outside
from simulator.units import worded_seconds


def time_section(parts: Parts, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds by part, cycles of each tile, and the time line. ``rows`` are the operators, longest first."""
    line, tiles = parts.timeline, parts.timeline.tiles
    shares = {
        "compute": int(line.compute.sum()),
        "exchange": int(line.exchange.sum()),
        "sync": int(line.sync.sum()),
        "host": sum(event.total for event in line.host),
        "collective": sum(event.total for event in line.collectives),
    }
    binding = max(shares, key=lambda name: shares[name])
    return {
        "total_seconds": parts.seconds(line.total),
        **{f"{name}_seconds": parts.seconds(cycles) for name, cycles in shares.items()},
        "total_cycles": line.total,
        "supersteps": line.supersteps,
        "by_tile": {
            "compute": tiles.compute.tolist(),
            "exchange": tiles.exchange.tolist(),
            "sync": tiles.sync.tolist(),
            "idle": tiles.idle.tolist(),
        },
        "passes": {p.name.lower(): parts.seconds(line.cycles_of_pass(parts.graph, p)) for p in Pass},
        "bound_by": binding,
        "sentence": _sentence(parts, binding, shares[binding], rows),
        "timeline": _time_line(parts),
    }


WHY = {
    "compute": "the slowest tile's arithmetic",
    "exchange": "data moving between tiles",
    "sync": "barriers: many small operators, each with its supersteps",
    "host": "transfers with the host",
    "collective": "summing gradients over the IPUs",
}


def _sentence(parts: Parts, binding: str, cycles: int, rows: list[dict[str, Any]]) -> str:
    total = max(1, parts.timeline.total)
    said = (
        f"A step takes {worded_seconds(parts.seconds(total))} (simulated); {binding} binds it with "
        f"{cycles / total:.0%} of the time: {WHY[binding]}."
    )
    if rows:
        said += f" The longest part is {rows[0]['name']} ({rows[0]['pass']}) with {rows[0]['share']:.0%}."
    return said


def _time_line(parts: Parts) -> dict[str, Any]:
    names, line = Names(), parts.timeline
    sections = time_line(
        parts,
        accumulation=1,
        before=_events("host", line.host[:1]),
        between=_events("collective", line.collectives),
        after=_events("host", line.host[1:]),
        names=names,
    )
    ipus = [{"ipu": 0, "stages": [0], "sections": sections}]
    return {"clock_hz": parts.ipu.clock_hz, "kinds": list(KINDS), "names": names.listed, "ipus": ipus}


def _events(kind: str, events: tuple[Outside, ...]) -> list[Row]:
    return [(event.name, kind, event.compute, event.transfer, event.sync) for event in events]
