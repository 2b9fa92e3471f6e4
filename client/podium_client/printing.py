"""Words for people at a terminal: job events, jobs, tables. Progress goes to stderr, results to stdout."""

import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from podium_client.types import Event

METRIC_LINE_SECONDS = 1.0


def say(text: str) -> None:
    """A line of progress on stderr."""
    print(clean(text), file=sys.stderr, flush=True)


def clean(text: str) -> str:
    """The text without control characters: names and logs come from models, and a terminal obeys escape codes."""
    return "".join(character if character.isprintable() else " " for character in text)


class EventPrinter:
    """Prints a job's events as they come; of metrics at most one line a second, but always the newest in the end."""

    def __init__(self) -> None:
        self._phase = ""
        self._printed_at = 0.0
        self._held: dict[str, Any] | None = None

    def __call__(self, event: Event) -> None:
        data = event["data"]
        if event["kind"] == "metrics":
            self._metrics(data["points"])
            return
        if event["kind"] in ("state", "ended"):
            self._flush()
        if event["kind"] == "state":
            say(f"state: {data['state']}")
        elif event["kind"] == "attempt_started" and data["attempt"] > 1:
            say(f"attempt {data['attempt']} goes on from step {data['resume_step']}")
        elif event["kind"] == "phase" and data["phase"] != self._phase:
            self._phase = data["phase"]
            say(f"phase: {self._phase}")
        elif event["kind"] == "log":
            for line in data["lines"]:
                say(line["message"] if line["level"] == "info" else f"{line['level']}: {line['message']}")
        elif event["kind"] == "ended" and data.get("message"):
            say(f"ended: {data['message']}")

    def _metrics(self, points: Sequence[Mapping[str, Any]]) -> None:
        if not points:
            return
        self._held = dict(points[-1])
        if time.monotonic() - self._printed_at >= METRIC_LINE_SECONDS:
            self._flush()

    def _flush(self) -> None:
        if self._held is None:
            return
        loss = self._held.get("loss")
        parts = [f"step {self._held['step']}"]
        if loss is not None:
            parts.append(f"loss {loss:.4f}")
        if self._held.get("samples_per_second") is not None:
            parts.append(f"{self._held['samples_per_second']:,.0f} samples/s (simulated)")
        say("  ".join(parts))
        self._held = None
        self._printed_at = time.monotonic()


def job_lines(job: Mapping[str, Any]) -> list[str]:
    """What one job is and came to; every simulated number says so."""
    lines = [
        f"job        {job['id']}  #{job['number']} {job['name']}",
        f"model      {job['model']['name']}",
        f"task       {job['task']} on {job['system']}, {job['ipus']} IPUs",
        f"state      {job['state']}",
    ]
    result = job.get("result") or {}
    measures: tuple[tuple[str, str, Callable[[float], str]], ...] = (
        ("step_seconds", "step time", lambda value: f"{value * 1e3:,.4g} ms (simulated)"),
        ("latency_seconds", "latency", lambda value: f"{value * 1e3:,.4g} ms (simulated)"),
        ("samples_per_second", "rate", lambda value: f"{value:,.1f} samples/s (simulated)"),
        ("final_loss", "final loss", lambda value: f"{value:.6g} (computed)"),
    )
    for key, label, words in measures:
        if result.get(key) is not None:
            lines.append(f"{label:<10} {words(result[key])}")
    if job.get("end") and job["end"].get("message"):
        lines.append(f"end        {job['end']['code']}: {job['end']['message']}")
    return [clean(line) for line in lines]


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Left-aligned columns as wide as their widest cell."""
    cells = [list(headings), *([clean(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )


def report_lines(report: Mapping[str, Any]) -> list[str]:
    """The headline of a report: fit, time and what binds it, memory, the costliest operators."""
    memory, span = report["memory"], report["time"]
    worst = memory["worst_tile"]
    share = 100 * worst["bytes"] / memory["bytes_per_tile"]
    lines = [
        f"model      {report['model']['name']}, {report['model']['parameters']:,} parameters",
        f"engine     {report['engine']['release']}",
        f"fits       {'yes' if report['fits'] else 'no'}",
        f"worst tile {worst['tile']}: {worst['bytes']:,} of {memory['bytes_per_tile']:,} bytes ({share:.1f} %)",
        f"step       {span['total_seconds'] * 1e3:,.4g} ms (simulated), bound by {span['bound_by']}",
        f"rate       {report['samples_per_second']:,.1f} samples/s (simulated)",
        f"why        {span['sentence']}",
    ]
    operators = [
        (row["name"], row["kind"], row["pass"], f"{row['seconds'] * 1e6:,.1f}", f"{100 * row['share']:.1f} %")
        for row in report["operators"][:10]
    ]
    lines.extend(table(("operator", "kind", "pass", "us", "share"), operators).split("\n"))
    return [clean(line) for line in lines]
