"""Turns what a jailed child emits into rows of events: batched, bounded and typed, since the child is not trusted.

It knows the shapes of job events, not the database: `workers.attempt` writes the rows.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

MOST_ROW_BYTES = 16 * 1024
MOST_MESSAGE = 2_000
MOST_LINES_A_BATCH = 200
MOST_LINES = 20_000  # a job's log; the rest is counted, not kept
_POINT = ("step", "loss", "simulated_seconds", "wall_seconds", "samples_per_second")
_PHASES = ("load", "trace", "parallelise", "plan", "schedule", "allocate", "report", "execute")
_LEVELS = ("debug", "info", "warning", "error")

Row = tuple[str, dict[str, Any]]


@dataclass
class Batch:
    """What has come since the last flush. `report` and `checkpoint` are handed out whole: they become files."""

    phases: dict[str, float] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)
    progress: dict[str, int] | None = None
    dropped: int = 0
    executing: bool = False

    @property
    def empty(self) -> bool:
        return not (self.phases or self.lines or self.points or self.progress or self.dropped)

    @property
    def phase(self) -> dict[str, Any] | None:
        """The last phase of the batch, as the job shows it."""
        if not self.phases:
            return None
        name = list(self.phases)[-1]
        return {"name": name, "fraction": self.phases[name]}

    def rows(self) -> list[Row]:
        """Event rows in the order phases, log, metrics, progress; none over 16 KiB."""
        rows: list[Row] = [("phase", {"phase": name, "fraction": fraction}) for name, fraction in self.phases.items()]
        lines = self.lines
        if self.dropped:
            lines = [*lines, _line("warning", f"{self.dropped} log lines were dropped: too many at once.")]
        rows += [("log", {"lines": part}) for part in _parts(lines)]
        rows += [("metrics", {"points": part}) for part in _parts(self.points)]
        if self.progress:
            rows.append(("progress", self.progress))
        return rows


class Relay:
    """Collects events of one attempt into batches."""

    def __init__(self) -> None:
        self._batch = Batch()
        self._lines_kept = 0

    def add(self, kind: str, data: dict[str, Any]) -> None:
        """Take one event; what is not of a known shape is passed over."""
        match kind:
            case "phase" if data.get("phase") in _PHASES:
                self._batch.phases.pop(data["phase"], None)  # the last one named is the current one
                self._batch.phases[data["phase"]] = min(1.0, max(0.0, _number(data.get("fraction")) or 0.0))
            case "log":
                self._add_line(data)
            case "metric":
                self._batch.points.append({name: _number(data.get(name)) for name in _POINT})
                self._batch.executing = True
            case "progress":
                done, total = _number(data.get("done")), _number(data.get("total"))
                if done is not None and total is not None:
                    self._batch.progress = {"done": int(done), "total": int(total)}
                    self._batch.executing = True

    def take(self) -> Batch:
        """The batch so far; a new one begins."""
        batch, self._batch = self._batch, Batch()
        return batch

    def _add_line(self, data: dict[str, Any]) -> None:
        if self._lines_kept >= MOST_LINES or len(self._batch.lines) >= MOST_LINES_A_BATCH:
            self._batch.dropped += 1
            return
        self._lines_kept += 1
        level = data.get("level") if data.get("level") in _LEVELS else "info"
        self._batch.lines.append(_line(str(level), str(data.get("message", ""))))


def _line(level: str, message: str) -> dict[str, Any]:
    return {"level": level, "message": message[:MOST_MESSAGE], "time": datetime.now(UTC).isoformat()}


def _number(value: Any) -> float | int | None:
    """The number, or None for anything else and for what JSON cannot say."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if abs(value) < 2**53 or isinstance(value, float) else None


def _parts(items: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The items in order, in groups that stay well below the size of one row."""
    parts: list[list[dict[str, Any]]] = []
    room = 0
    for item in items:
        size = len(json.dumps(item)) + 2
        if size > room:
            parts.append([])
            room = MOST_ROW_BYTES - 1024
        parts[-1].append(item)
        room -= size
    return parts
