"""The error bar of headline figures: pooled errors of predictions of rows that were not fitted, widened by doubts.

``residuals.yaml`` is written by ``python -m simulator.validation.fit``: log-residuals of refits that leave one source
and family out. A prediction that is unlike those rows is less certain; ``Doubts`` says in which ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, exp
from typing import Any

from simulator.datafiles import read_data
from simulator.report.parts import Parts

COVERAGE = 0.9  # of the interval
# of a simulated run's settings only these are doubted: the others have defaults that mean what they say
ASSUMED_COUNTS = frozenset({"precision", "partials"})


@dataclass(frozen=True)
class Doubts:
    """``coverage``: share of the time costed by a model of its own. ``assumed``: what decides it and nobody stated."""

    framework: str
    chips: int
    coverage: float = 1.0
    assumed: tuple[str, ...] = ()
    gpu: bool = False


@lru_cache(maxsize=1)
def _known() -> dict[str, Any]:
    parsed: dict[str, Any] = read_data("simulator.report", "residuals.yaml")
    return parsed


def quantile(residuals: Iterable[float], share: float = COVERAGE) -> float:
    """The size that ``share`` of the residuals do not exceed, counting the one to come (split-conformal)."""
    sizes = sorted(abs(each) for each in residuals)
    place = ceil(share * (len(sizes) + 1)) - 1
    return sizes[min(place, len(sizes) - 1)]


def widening(doubts: Doubts) -> tuple[float, tuple[str, ...]]:
    """What multiplies the log-width, and why."""
    scales, reasons = _known()["scales"], []
    factor = 1.0
    for name, holds in (
        ("unseen_framework", not doubts.gpu and doubts.framework not in _known()["frameworks"]),
        ("above_64_ipus", doubts.chips > 64),
        ("assumed_configuration", bool(doubts.assumed)),
        ("gpu", doubts.gpu),
    ):
        if holds:
            factor *= float(scales[name]["value"])
            reasons.append(name)
    if doubts.coverage < 1.0:
        factor *= 1.0 + float(scales["uncovered"]["value"]) * (1.0 - doubts.coverage)
        if doubts.coverage < COVERAGE:
            reasons.append("low_coverage")
    return factor, tuple(reasons)


def half_width(doubts: Doubts) -> float:
    """The factor by which a figure may lie above or below its prediction, 1 or more."""
    factor, _ = widening(doubts)
    return exp(quantile(_known()["log_residuals"]) * factor)


def intervals(parts: Parts) -> dict[str, Any]:
    """``step_seconds`` and ``samples_per_second``, each [low, high], and what they rest on."""
    doubts = doubts_of(parts)
    spread, step = half_width(doubts), parts.seconds(parts.step_cycles)
    samples = parts.samples
    factor, reasons = widening(doubts)
    return {
        "step_seconds": [step / spread, step * spread],
        "samples_per_second": [samples / (step * spread), samples * spread / step],
        "basis": basis(reasons),
        "coverage": COVERAGE,
        "widened": {"factor": factor, "because": list(reasons)},
    }


WORDS = {
    "unseen_framework": "a framework without published figures",
    "above_64_ipus": "more than 64 IPUs",
    "assumed_configuration": "settings that nobody stated",
    "gpu": "the comparator",
    "low_coverage": "operators costed by a fallback",
}


def basis(reasons: tuple[str, ...]) -> str:
    """What the interval rests on, in one sentence."""
    rows = len(_known()["log_residuals"])
    said = f"90 % of {rows} published figures lie within it when their source and family are left out of the fit"
    return said + ("; wider for " + ", ".join(WORDS[each] for each in reasons) if reasons else "")


def doubts_of(parts: Parts) -> Doubts:
    """Settings of a simulated run that were given or published are no doubt; defaults of a replica's layout are."""
    from simulator.report.operators import coverage

    share = float(coverage(parts)["share_of_time_modelled"])
    return doubts(parts.config.framework, parts.parallel.ipus, share, parts.origins)


def doubts(framework: str, chips: int, coverage: float, origins: Mapping[str, str]) -> Doubts:
    """The same from figures alone."""
    assumed = tuple(name for name, origin in origins.items() if origin == "assumed" and name in ASSUMED_COUNTS)
    return Doubts(framework, chips, coverage, assumed)
