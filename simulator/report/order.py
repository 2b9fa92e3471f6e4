"""What runs when, for time lines: every IPU's operators in order, and the pipeline's blocks. It draws nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.report.parts import Parts
from simulator.report.spans import KINDS, Names, Row, Section, encoded, micro_batch, update
from simulator.schedule.outside import Outside
from simulator.schedule.pipelining import beats

MOST_BLOCKS = 4000


def time_line(parts: Parts) -> dict[str, Any]:
    """``ipus``: sections of rows (see ``spans``), those of a micro-batch once; ``pipeline``: blocks of a step."""
    names = Names()
    ipus = [_ipu(parts, place, names) for place in range(len(parts.classes))]
    return {
        "clock_hz": parts.ipu.clock_hz,
        "kinds": list(KINDS),
        "names": names.listed,
        "ipus": ipus,
        "pipeline": pipeline_blocks(parts) if parts.parallel.stages > 1 else [],
    }


def _ipu(parts: Parts, place: int, names: Names) -> dict[str, Any]:
    each, line = parts.classes[place], parts.classes[place].timeline
    section = Section(each.graph, parts.schedule.columns[place])
    sections = [
        ("in", 1, _events("host", line.host[:1])),
        ("micro-batch", parts.parallel.micro_batches, micro_batch(section)),
        ("copies", 1, _events("copy", line.copies)),
        ("waiting", 1, [("", "bubble", 0, 0, line.bubble)] if line.bubble else []),
        ("update", 1, [*_events("collective", line.collectives), *update(section)]),
        ("out", 1, _events("host", line.host[1:])),
    ]
    told = [{"label": label, "times": n, "rows": encoded(rows, names)} for label, n, rows in sections if rows]
    return {"ipu": each.ipu, "stages": list(each.stages), "sections": told}


def _events(kind: str, events: tuple[Outside, ...]) -> list[Row]:
    return [(event.name, kind, event.compute, event.transfer, event.sync) for event in events]


def pipeline_blocks(parts: Parts) -> list[dict[str, Any]]:
    """Which IPU works on which micro-batch of which stage when, in cycles from the first; at most the first 4,000.

    Copies between cycles of the pipeline are drawn with their mean length.
    """
    schedule, parallel = parts.schedule, parts.parallel
    line = schedule.pipeline
    copy = line.copying / line.copies if line.copies else 0.0
    done = np.zeros((2, parallel.stages), dtype=np.int64)
    found: list[dict[str, Any]] = []
    now = 0.0
    back = bool(schedule.backward.any())
    for times, runs, returns in beats(parallel.schedule, parallel.stages, parallel.micro_batches, back):
        for _ in range(times):
            blocks, length = _beat(parts, runs, returns, done, now)
            found += blocks
            now += length + (copy if parallel.stages > 1 else 0)
            if len(found) >= MOST_BLOCKS:
                return found[:MOST_BLOCKS]
    return found


def _beat(parts: Parts, runs: Any, returns: Any, done: Any, now: float) -> tuple[list[dict[str, Any]], int]:
    """Blocks of one cycle of the pipeline, and how long its slowest IPU takes; counts what is ``done``."""
    schedule, places = parts.schedule, parts.parallel.stage_ipus
    at = dict.fromkeys(places, 0)
    found = []
    for side, (kind, active, cycles) in enumerate(
        (("forward", runs, schedule.forward), ("backward", returns, schedule.backward))
    ):
        for stage in np.flatnonzero(active).tolist():
            place, length = places[stage], int(cycles[stage])
            found.append(
                {
                    "ipu": place, "stage": stage, "kind": kind, "micro_batch": int(done[side, stage]),
                    "start": now + at[place], "cycles": length,
                }
            )  # fmt: skip
            at[place] += length
            done[side, stage] += 1
    return found, max(at.values())
