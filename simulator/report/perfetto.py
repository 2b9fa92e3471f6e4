"""The time line of a report as Chrome trace events, which ui.perfetto.dev and chrome://tracing open.

One process an IPU of a replica, with operators above and what they wait for below; the pipeline is a process of its
own. It reads nothing but the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

# micro-batches drawn operator by operator; the rest of a long accumulation is one bar
MOST_DRAWN = 4
PHASES = ("compute", "exchange", "sync")
OPERATORS, BSP, PIPELINE = 1, 2, 0
MICROSECONDS = 1e6

Event = dict[str, Any]


def trace(report: dict[str, Any]) -> str:
    """The events as JSON text; times in microseconds of simulated time."""
    line = report["time"]["timeline"]
    events = [event for ipu in line["ipus"] for event in _ipu(ipu, line)]
    events += _pipeline(line)
    about = {
        "model": report["model"]["name"],
        "engine": report["engine"]["release"],
        "simulated": "All times are simulated, not measured.",
    }
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": about})


def _ipu(ipu: dict[str, Any], line: dict[str, Any]) -> Iterator[Event]:
    process = ipu["ipu"] + 1
    stages = ", ".join(str(stage) for stage in ipu["stages"])
    yield _named("process_name", process, 0, f"IPU {ipu['ipu']} of a replica (stage {stages})")
    yield _named("thread_name", process, OPERATORS, "operators")
    yield _named("thread_name", process, BSP, "compute, exchange, sync")
    now = 0.0
    for section in ipu["sections"]:
        cycles = sum(sum(row[2:]) for row in section["rows"])
        for number in range(section["times"]):
            left = section["times"] - number
            if number == MOST_DRAWN and left > 1:
                length = left * cycles * MICROSECONDS / line["clock_hz"]
                yield _bar(f"{left} more of {section['label']}", "repeated", process, OPERATORS, now, length)
                now += length
                break
            label = f"{section['label']} {number}" if section["times"] > 1 else section["label"]
            yield from _rows(section["rows"], line, process, now, label)
            now += cycles * MICROSECONDS / line["clock_hz"]


def _rows(rows: list[list[int]], line: dict[str, Any], process: int, now: float, label: str) -> Iterator[Event]:
    scale = MICROSECONDS / line["clock_hz"]
    for name, kind, *cycles in rows:
        length = sum(cycles) * scale
        words = dict(zip(PHASES, cycles, strict=True))
        title = line["names"][name] or line["kinds"][kind]
        yield _bar(title, line["kinds"][kind], process, OPERATORS, now, length, {"part": label, **words})
        for phase, amount in words.items():
            if amount:
                yield _bar(phase, phase, process, BSP, now, amount * scale)
                now += amount * scale


def _pipeline(line: dict[str, Any]) -> Iterator[Event]:
    blocks = line.get("pipeline") or []
    if not blocks:
        return
    scale = MICROSECONDS / line["clock_hz"]
    yield _named("process_name", PIPELINE, 0, "pipeline of a replica, one step")
    for ipu in sorted({block["ipu"] for block in blocks}):
        yield _named("thread_name", PIPELINE, ipu, f"IPU {ipu}")
    for block in blocks:
        title = f"{block['kind']} {block['micro_batch']}" if block.get("micro_batch") is not None else block["kind"]
        args = {"stage": block["stage"]}
        yield _bar(title, block["kind"], PIPELINE, block["ipu"], block["start"] * scale, block["cycles"] * scale, args)


def _named(what: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": thread, "args": {"name": name}}


def _bar(
    name: str, category: str, process: int, thread: int, start: float, length: float, args: dict[str, Any] | None = None
) -> Event:
    event = {"ph": "X", "name": name, "cat": category, "pid": process, "tid": thread, "ts": start, "dur": length}
    return event if args is None else {**event, "args": args}
