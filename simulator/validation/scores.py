"""Scores of predictions: median, 90th percentile and worst error, coverage of intervals and their width, by group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median

from simulator.validation.predictions import Judged


@dataclass(frozen=True)
class Score:
    """Of the rows of one group; errors in percent, without sign; None where no row is modelled."""

    name: str
    rows: int
    modelled: int
    median: float | None
    ninetieth: float | None
    worst: float | None
    covered: float | None
    half_width: float | None


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that ``share`` of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(share * len(ordered)) - 1)]


def score(name: str, judged: Iterable[Judged]) -> Score:
    """The score of one group of rows."""
    rows = list(judged)
    errors = [abs(each.error_percent) for each in rows if each.error_percent is not None]
    inside = [each.covered for each in rows if each.covered is not None]
    widths = [each.half_width_percent for each in rows if each.half_width_percent is not None]
    return Score(
        name, len(rows), len(errors),
        median(errors) if errors else None, percentile(errors, 0.9) if errors else None, max(errors, default=None),
        sum(inside) / len(inside) if inside else None, median(widths) if widths else None,
    )  # fmt: skip


def by(judged: Iterable[Judged], key: Callable[[Judged], str]) -> list[Score]:
    """A score for each value of ``key``, in the order of their names."""
    groups: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        groups[key(each)].append(each)
    return [score(name, groups[name]) for name in sorted(groups)]
