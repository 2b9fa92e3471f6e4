"""Time in the report: where a step goes, what binds it in a sentence, cycles of tiles, the order of operators."""

from __future__ import annotations

from typing import Any

from simulator.graph.graph import Pass
from simulator.report.order import time_line
from simulator.report.parts import IpuClass, Parts
from simulator.schedule.run import run_time
from simulator.units import Cycles, worded_seconds

WHY = {
    "compute": "the slowest tile's arithmetic",
    "exchange": "data moving between tiles",
    "sync": "barriers: many small operators, each with its supersteps",
    "host": "transfers with the host",
    "collective": "summing gradients over the replicas",
    "copy": "activations and gradients between the IPUs of a replica",
    "bubble": "waiting for other stages: the pipeline fills, drains or has a slower stage",
}
# what to try, said only of what binds
TRY = {
    "sync": "A larger micro-batch does more work between barriers",
    "collective": "More accumulation sums gradients less often",
    "bubble": "More accumulation fills the pipeline longer; other splits balance it",
}


def time_section(parts: Parts, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Seconds by part of the busiest IPU, every IPU in short, the time line. ``rows``: operators, longest first."""
    each, line = parts.busiest, parts.busiest.timeline
    tiles = line.tiles
    shares = cycles_by_part(each)
    binding = max(shares, key=lambda name: shares[name])
    return {
        "total_seconds": parts.seconds(line.total),
        **{f"{name}_seconds": parts.seconds(cycles) for name, cycles in shares.items()},
        "total_cycles": line.total,
        "supersteps": line.supersteps,
        "ipu": each.ipu,
        "by_tile": {
            "compute": tiles.compute.tolist(),
            "exchange": tiles.exchange.tolist(),
            "sync": tiles.sync.tolist(),
            "idle": tiles.idle.tolist(),
        },
        "passes": {p.name.lower(): parts.seconds(line.cycles_of_pass(each.graph, p)) for p in Pass},
        "ipus": [_short(parts, other) for other in parts.classes],
        "bound_by": binding,
        "sentence": _sentence(parts, binding, shares[binding], rows),
        "run": _run(parts),
        "timeline": time_line(parts),
    }


def _run(parts: Parts) -> dict[str, Any] | None:
    """Time of an epoch and of all of them, where somebody says how many samples there are."""
    found = run_time(parts.schedule, parts.parallel, parts.config, parts.ipu)
    return None if found is None else found.to_dict()


def cycles_by_part(each: IpuClass) -> dict[str, Cycles]:
    """Cycles of a step of one IPU by what it does in them; they add up to the step."""
    line = each.timeline
    return {
        "compute": int(line.compute.sum()),
        "exchange": int(line.exchange.sum()),
        "sync": int(line.sync.sum()),
        "host": sum(event.total for event in line.host),
        "collective": sum(event.total for event in line.collectives),
        "copy": sum(event.total for event in line.copies),
        "bubble": line.bubble,
    }


def _short(parts: Parts, each: IpuClass) -> dict[str, Any]:
    seconds = {f"{name}_seconds": parts.seconds(cycles) for name, cycles in cycles_by_part(each).items()}
    return {"ipu": each.ipu, "stages": list(each.stages), "supersteps": each.timeline.supersteps, **seconds}


def _sentence(parts: Parts, binding: str, cycles: Cycles, rows: list[dict[str, Any]]) -> str:
    total = max(1, parts.step_cycles)
    where = f" of IPU {parts.busiest.ipu}" if len(parts.classes) > 1 else ""
    said = (
        f"A step takes {worded_seconds(parts.seconds(total))} (simulated); {binding} binds it with "
        f"{cycles / total:.0%} of the time{where}: {WHY[binding]}."
    )
    if rows:
        said += f" The longest part is {rows[0]['name']} ({rows[0]['pass']}) with {rows[0]['share']:.0%}."
    return said + (f" {TRY[binding]}." if binding in TRY else "")
