"""Builds the Report from the products of the stages. It computes no physics; a version of the schema only grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.graph.graph import Pass
from simulator.memory.fit import top_tensors
from simulator.memory.lifetimes import CATEGORIES
from simulator.release import ENGINE_RELEASE, engine_fingerprint
from simulator.report.checks import checks
from simulator.report.intervals import intervals
from simulator.report.operators import coverage, operators
from simulator.report.parts import Parts
from simulator.units import worded_seconds

SCHEMA = "podium.report/1"
LIVENESS_POINTS = 200


class Report(dict[str, Any]):
    """The report as JSON-able data, bit-identical on every re-run but for ``simulation``."""

    @property
    def fits(self) -> bool:
        return bool(self["fits"])

    def to_dict(self) -> dict[str, Any]:
        return dict(self)


def build(parts: Parts) -> Report:
    """The report of one simulation. Raises ``report.conservation`` when a conservation law is broken."""
    step = parts.seconds(parts.timeline.total)
    rows = operators(parts)
    return Report(
        schema=SCHEMA,
        engine={"release": ENGINE_RELEASE, "fingerprint": engine_fingerprint()},
        model={"name": parts.name, "parameters": parts.parameters, "sha256": parts.sha256},
        fits=parts.overflow is None,
        step_seconds=step,
        samples_per_second=parts.parallel.global_batch / step,
        latency=None if parts.graph.training else {"seconds": step},
        intervals=intervals(parts),
        memory=_memory(parts),
        time=_time(parts, rows),
        operators=rows,
        parallel=parts.parallel.to_dict(),
        config=parts.config.to_dict(),
        config_origins=dict(parts.origins),
        coverage=coverage(parts),
        provenance={"constants": [fact.to_dict() for fact in parts.ipu.known.values()]},
        checks=checks(parts),
        notes=[{"code": code, "message": message} for code, message in _notes(parts)],
    )


def _memory(parts: Parts) -> dict[str, Any]:
    memory, ops = parts.memory, parts.graph.ops
    used = memory.tile_bytes
    worst = memory.worst_tile
    return {
        "tiles": parts.ipu.tiles,
        "bytes_per_tile": parts.ipu.bytes_per_tile,
        "categories": list(CATEGORIES),
        "by_tile": {name: memory.by_tile[name].tolist() for name in CATEGORIES},
        "totals": {name: int(memory.by_tile[name].sum()) for name in CATEGORIES},
        "total_bytes": int(used.sum()),
        "worst_tile": {
            "tile": worst,
            "bytes": int(used[worst]),
            "free": parts.ipu.bytes_per_tile - int(used[worst]),
            "top_tensors": list(top_tensors(memory, parts.graph)),
        },
        "peak_step": {"op": memory.worst_step, "source": ops.source[memory.worst_step] if len(ops) else ""},
        "liveness": _liveness(parts),
        "overflow": None if parts.overflow is None else parts.overflow.to_dict(),
    }


def _liveness(parts: Parts) -> list[dict[str, Any]]:
    """Bytes over all tiles at up to 200 steps, the fullest among them."""
    memory, steps = parts.memory, len(parts.graph.ops)
    if steps == 0:
        return []
    chosen = np.unique(np.linspace(0, steps - 1, min(steps, LIVENESS_POINTS - 2)).round().astype(int))
    peak = int(np.argmax(memory.not_always_live))
    return [
        {
            "op": int(i),
            "source": parts.graph.ops.source[i],
            "always_live": memory.always_live,
            "not_always_live": int(memory.not_always_live[i]),
        }
        for i in sorted({*chosen.tolist(), peak, memory.worst_step})
    ]


def _time(parts: Parts, rows: list[dict[str, Any]]) -> dict[str, Any]:
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


def _notes(parts: Parts) -> list[tuple[str, str]]:
    found = list(parts.notes)
    found.append(("interval.uncalibrated", "No constant of this release is fitted to measurements: read the interval."))
    found.append(("host.not_overlapped", "Host transfers are taken not to overlap with compute."))
    if parts.parallel.link_domains > 1:
        text = "Collectives beyond one IPU-Link domain are the least certain part: published systems were slower."
        found.append(("collective.gateway", text))
    return found
