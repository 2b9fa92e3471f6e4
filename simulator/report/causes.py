"""Why two reports differ: operators that take longer or shorter, in which part of their time, in words.

Operators of one kind whose names differ in numbers alone ("layer3.softmax", "layer4.softmax") are told together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from simulator.units import worded_seconds

PARTS = ("compute", "exchange", "sync")
SHOWN = 12
# a cause below this share of the change is not worth a sentence
SMALLEST = 0.01
NAMED_RATIO = 1.005


@dataclass
class Cause:
    """Operators that changed alike: seconds ``before`` and ``after`` of one part of their time."""

    pattern: str
    kind: str
    pass_: str
    part: str
    names: list[str] = field(default_factory=list)
    before: float = 0.0
    after: float = 0.0

    @property
    def change(self) -> float:
        return self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.worded(),
            "part": self.part,
            "kind": self.kind,
            "pass": self.pass_,
            "operators": self.names,
            "seconds_before": self.before,
            "seconds_after": self.after,
        }

    def worded(self) -> str:
        """One sentence without its full stop: who, what, how much."""
        many = len(self.names) > 1
        who = f"{len(self.names)} {self.kind} operators `{self.pattern}`" if many else f"`{self.names[0]}`"
        return f"{who} ({self.pass_}) {self._verb(many)} ({_signed(self.change)})"

    def _verb(self, many: bool) -> str:
        s = "" if many else "s"
        if self.before == 0:
            return f"{'are' if many else 'is'} new" if self.part == "compute" else f"now need{s} {NOUN[self.part]}"
        if self.after == 0:
            return f"need{s} no more {NOUN[self.part]}"
        ratio = self.after / self.before
        if self.part == "sync":
            return f"spend{s} {times(ratio)} at barriers"
        if self.part == "exchange":
            return f"exchange{s} {times(ratio, 'much', 'more', 'less')}"
        return f"{'compute' if self.part == 'compute' else 'take'}{s} {times(ratio)}"


NOUN = {
    "compute": "arithmetic",
    "exchange": "exchange",
    "sync": "barriers",
    "host": "transfer",
    "collective": "transfer",
}


def times(ratio: float, as_: str = "long", above: str = "longer", below: str = "shorter") -> str:
    """``2.1 times as long``; near 1, ``12.0% longer``."""
    if ratio >= 1.5 or ratio <= 0.67:
        return f"{ratio:.{1 if ratio > 1 else 2}f} times as {as_}"
    return f"{abs(ratio - 1):.1%} {above if ratio > 1 else below}"


def _signed(seconds: float) -> str:
    return ("+" if seconds >= 0 else "-") + worded_seconds(abs(seconds))


def causes(before: dict[str, Any], after: dict[str, Any]) -> list[Cause]:
    """What changed between the operators of two reports, largest change first."""
    found: dict[tuple[str, str, str, str], Cause] = {}
    for row, sign in _rows(before, after):
        pattern = re.sub(r"\d+", "*", row["name"])
        for part, seconds in _seconds(row).items():
            cause = found.setdefault(
                (pattern, row["kind"], row["pass"], part), Cause(pattern, row["kind"], row["pass"], part)
            )
            if row["name"] not in cause.names:
                cause.names.append(row["name"])
            if sign < 0:
                cause.before += seconds
            else:
                cause.after += seconds
    return sorted(
        (cause for cause in found.values() if cause.change), key=lambda c: (-abs(c.change), c.pattern, c.part)
    )


def telling(found: list[Cause], change: float) -> list[Cause]:
    """Those worth a sentence: what pushes the way the step went comes first."""
    direction = 1 if change >= 0 else -1
    total = sum(abs(cause.change) for cause in found)
    kept = [cause for cause in found if abs(cause.change) >= SMALLEST * total][:SHOWN]
    return sorted(kept, key=lambda cause: -direction * cause.change)


def _rows(before: dict[str, Any], after: dict[str, Any]) -> Iterable[tuple[dict[str, Any], int]]:
    for row in before["operators"]:
        yield {**row, "clock": _clock(before)}, -1
    for row in after["operators"]:
        yield {**row, "clock": _clock(after)}, 1


def _clock(report: dict[str, Any]) -> float:
    cycles, seconds = report["time"]["total_cycles"], report["time"]["total_seconds"]
    return float(cycles / seconds) if seconds else 1.0


def _seconds(row: dict[str, Any]) -> dict[str, float]:
    if row["kind"] in ("host", "collective"):
        return {row["kind"]: float(row["seconds"])}
    return {part: row[f"{part}_cycles"] / row["clock"] for part in PARTS}
