"""The table of ``validate`` in words, and its rows as JSON. It computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from simulator.report.text import plain
from simulator.validation.predictions import Judged
from simulator.validation.scores import Score, by, score

HEAD = f"{'predicted':>12} {'published':>12} {'error':>8}  {'90 % interval':<25} in  row"
SCORE_HEAD = (
    f"{'rows':>5} {'modelled':>8} {'median':>7} {'90th':>7} {'worst':>7} {'covered':>8} {'half-width':>10}  group"
)


def lines(judged: Sequence[Judged]) -> Iterator[str]:
    """A line for each row, the scores, and what was assumed of the rows."""
    yield HEAD
    yield from map(_row, judged)
    yield ""
    yield SCORE_HEAD
    yield _score(score("all rows", judged))
    for title, key in (("family", _family), ("source", _source), ("metric", _metric)):
        yield f"by {title}:"
        yield from map(_score, by(judged, key))


def _family(each: Judged) -> str:
    return each.figure.family


def _source(each: Judged) -> str:
    return each.figure.source.partition(":")[0] or "-"


def _metric(each: Judged) -> str:
    return each.figure.subject.metric


def _row(each: Judged) -> str:
    subject, found = each.figure.subject, each.prediction
    words = (subject.model[:40], subject.system[:22], subject.framework[:20])
    name = plain(" | ".join(words) + f" | {subject.metric[:40]} [{subject.unit[:16]}]")
    published = "-" if each.figure.published is None else f"{each.figure.published:.6g}"
    if found.value is None or found.low is None or found.high is None:
        return f"{'not modelled':>12} {published:>12} {'':>8}  {'':<25} --  {name}: {plain(found.reason)}"
    error = "" if each.error_percent is None else f"{each.error_percent:+.1f} %"
    interval = f"{found.low:.5g} .. {found.high:.5g}"
    inside = {True: "yes", False: "NO ", None: "-- "}[each.covered]
    return f"{found.value:>12.6g} {published:>12} {error:>8}  {interval:<25} {inside} {name}{_assumed(each)}"


def _assumed(each: Judged) -> str:
    assumed = each.prediction.case.assumed if each.prediction.case is not None else ()
    return f" (assumed: {', '.join(assumed)})" if assumed else ""


def _score(found: Score) -> str:
    def percent(value: float | None, digits: int = 1) -> str:
        return "-" if value is None else f"{value:.{digits}f} %"

    covered = None if found.covered is None else 100 * found.covered
    return (
        f"{found.rows:>5} {found.modelled:>8} {percent(found.median):>7} {percent(found.ninetieth):>7} "
        f"{percent(found.worst):>7} {percent(covered, 0):>8} {percent(found.half_width):>10}  {plain(found.name)}"
    )


def to_json(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """One object a row, in the order of the file."""
    return [
        {
            "id": each.figure.id,
            "metric": each.figure.subject.metric,
            "unit": each.figure.subject.unit,
            "published": each.figure.published,
            "predicted": each.prediction.value,
            "error_percent": each.error_percent,
            "low": each.prediction.low,
            "high": each.prediction.high,
            "modelled": each.prediction.modelled,
            "reason": each.prediction.reason,
            "assumed": list(each.prediction.case.assumed) if each.prediction.case is not None else [],
        }
        for each in judged
    ]
