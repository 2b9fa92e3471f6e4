"""Builds the Report from the products of the stages. It computes no physics; a version of the schema only grows."""

from __future__ import annotations

from typing import Any

from simulator.release import ENGINE_RELEASE, engine_fingerprint
from simulator.report.checks import checks
from simulator.report.costs import costs
from simulator.report.differences import differences
from simulator.report.intervals import intervals
from simulator.report.latency import latency
from simulator.report.layers import layers
from simulator.report.memory_section import memory_section
from simulator.report.notes import notes
from simulator.report.operators import coverage, operators
from simulator.report.parts import Parts
from simulator.report.provenance import provenance
from simulator.report.reading import SCHEMA
from simulator.report.remedies import remedies
from simulator.report.roofline import peaks, roofline
from simulator.report.stages import stages
from simulator.report.time_section import time_section
from simulator.report.trying import Again, tried


class Report(dict[str, Any]):
    """The report as JSON-able data, bit-identical on every re-run but for ``simulation``."""

    @property
    def fits(self) -> bool:
        return bool(self["fits"])

    def to_dict(self) -> dict[str, Any]:
        return dict(self)


def build(parts: Parts, again: Again | None = None) -> Report:
    """The report of one simulation; ``again`` simulates another configuration, to try remedies of what does not fit.

    Raises ``report.conservation`` when a conservation law is broken.
    """
    advice = _advice(parts, again)
    step = parts.seconds(parts.step_cycles)
    rate = parts.samples / step
    rows = operators(parts)
    time = time_section(parts, rows)
    parallel = parts.parallel
    return Report(
        schema=SCHEMA,
        engine={"release": ENGINE_RELEASE, "fingerprint": engine_fingerprint()},
        model={"name": parts.name, "parameters": parts.parameters, "sha256": parts.sha256},
        fits=parts.overflow is None,
        step_seconds=step,
        samples_per_second=rate,
        latency=latency(parts),
        intervals=intervals(parts),
        memory=memory_section(parts, advice),
        time=time,
        operators=rows,
        layers=layers(rows),
        roofline=roofline(rows, peaks(parts.config, parts.ipu)),
        costs=costs(parts, step, rate),
        parallel={**parallel.to_dict(), "stages": stages(parts)},
        config=parts.config.to_dict(),
        config_origins=dict(parts.origins),
        coverage=coverage(parts),
        provenance=provenance(parts, time),
        differences=differences(parts.config, parallel.ipus, parallel.link_domains),
        checks=checks(parts),
        notes=[{"code": code, "message": message} for code, message in notes(parts)],
    )


def _advice(parts: Parts, again: Again | None) -> list[dict[str, Any]]:
    """What would make it fit: nothing where it does."""
    if parts.overflow is None:
        return []
    return [remedy.to_dict() for remedy in remedies(parts)] if again is None else tried(parts, again)
