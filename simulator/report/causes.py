"""Why two steps differ: operators that take longer or shorter, in which part of their time, in words.

Operators of one kind whose names differ in numbers alone ("layer3.softmax", "layer4.softmax") are told together; so are
all operators where all changed alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from simulator.units import worded_seconds

PARTS = ("compute", "exchange", "sync")
SHOWN = 12
# a cause below this share of the change is not worth a sentence
SMALLEST = 0.01
ALIKE = 0.05
FEWEST_ALIKE = 3


class Group(NamedTuple):
    """Operators that are told together; ``pattern`` has a star for each number of their names."""

    pattern: str
    kind: str
    pass_: str


@dataclass
class Spent:
    """Seconds of a group in a step by part of its time."""

    names: dict[str, None] = field(default_factory=dict)  # in order of appearance
    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, seconds: Mapping[str, float]) -> None:
        self.names[name] = None
        for part, amount in seconds.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + amount


Spending = Mapping[Group, Spent]


@dataclass(frozen=True)
class Cause:
    """Operators that changed alike: seconds of one part of their time ``before`` and ``after``. No names: all."""

    group: Group
    part: str
    names: tuple[str, ...]
    before: float
    after: float

    @property
    def change(self) -> float:
        return self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.worded(),
            "part": self.part,
            "kind": self.group.kind,
            "pass": self.group.pass_,
            "operators": list(self.names),
            "seconds_before": self.before,
            "seconds_after": self.after,
        }

    def worded(self) -> str:
        """One sentence without its full stop: who, what, how much."""
        many = len(self.names) != 1
        return f"{self._who()} {self._verb(many)} ({signed(self.change)})"

    def _who(self) -> str:
        if not self.names:
            return "all operators"
        if len(self.names) == 1:
            return f"`{self.names[0]}` ({self.group.pass_})"
        return f"{len(self.names)} {self.group.kind} operators `{self.group.pattern}` ({self.group.pass_})"

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
    "compute": "arithmetic", "exchange": "exchange", "sync": "barriers", "host": "transfer", "collective": "transfer",
    "copy": "transfer",
}  # fmt: skip


def times(ratio: float, as_: str = "long", above: str = "longer", below: str = "shorter") -> str:
    """``2.1 times as long``; near 1, ``12.0% longer``."""
    if ratio >= 1.5 or ratio <= 0.67:
        return f"{ratio:.{1 if ratio > 1 else 2}f} times as {as_}"
    return f"{abs(ratio - 1):.1%} {above if ratio > 1 else below}"


def signed(seconds: float) -> str:
    """``+3.1 ms``"""
    return ("+" if seconds >= 0 else "-") + worded_seconds(abs(seconds))


@lru_cache(maxsize=65_536)
def pattern_of(name: str) -> str:
    """``layer3.softmax`` -> ``layer*.softmax``."""
    return re.sub(r"\d+", "*", name)


def spending_of(report: Mapping[str, Any]) -> Spending:
    """What the operators of a report take, in seconds."""
    found: dict[Group, Spent] = {}
    cycles, seconds = report["time"]["total_cycles"], report["time"]["total_seconds"]
    clock = cycles / seconds if seconds else 1.0
    for row in report["operators"]:
        group = Group(pattern_of(row["name"]), row["kind"], row["pass"])
        found.setdefault(group, Spent()).add(row["name"], _seconds(row, clock))
    return found


def _seconds(row: Mapping[str, Any], clock: float) -> dict[str, float]:
    if row["kind"] in ("host", "collective", "copy"):
        return {row["kind"]: float(row["seconds"])}
    return {part: row[f"{part}_cycles"] / clock for part in PARTS}


def causes(before: Spending, after: Spending) -> list[Cause]:
    """What changed between two steps, largest change first."""
    found = []
    none = Spent()
    for group in dict.fromkeys([*before, *after]):
        old, new = before.get(group, none), after.get(group, none)
        names = tuple(dict.fromkeys([*old.names, *new.names]))
        for part in dict.fromkeys([*old.seconds, *new.seconds]):
            cause = Cause(group, part, names, old.seconds.get(part, 0.0), new.seconds.get(part, 0.0))
            if cause.change:
                found.append(cause)
    return sorted(_together(found), key=lambda c: (-abs(c.change), c.group, c.part))


def _together(found: Sequence[Cause]) -> Iterable[Cause]:
    """One cause for a part of time in which all operators changed by the same factor, nearly."""
    for part in dict.fromkeys(cause.part for cause in found):
        own = [cause for cause in found if cause.part == part]
        before, after = sum(cause.before for cause in own), sum(cause.after for cause in own)
        change = sum(abs(cause.change) for cause in own)
        ratio = after / before if before else 0.0
        apart = sum(abs(cause.after - ratio * cause.before) for cause in own)
        if len(own) >= FEWEST_ALIKE and before and after and apart <= ALIKE * change:
            yield Cause(Group("*", "", ""), part, (), before, after)
        else:
            yield from own


def telling(found: Sequence[Cause], change: float) -> list[Cause]:
    """Those worth a sentence: what pushes the way the step went comes first."""
    direction = 1 if change >= 0 else -1
    total = sum(abs(cause.change) for cause in found)
    kept = [cause for cause in found if abs(cause.change) >= SMALLEST * total][:SHOWN]
    return sorted(kept, key=lambda cause: -direction * cause.change)
