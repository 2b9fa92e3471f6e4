"""The pipeline stages of a replica in the report: where each runs, what begins it, how long it takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.graph.graph import Pass
from simulator.report.parts import IpuClass, Parts


def stages(parts: Parts) -> list[dict[str, Any]]:
    """One row a stage, in order. Times are of one micro-batch, but ``update_seconds`` and ``bubble_seconds`` of a step.

    Stages that share an IPU share its update, its waiting and its memory.
    """
    return [_stage(parts, stage) for stage in range(parts.parallel.stages)]


def _stage(parts: Parts, stage: int) -> dict[str, Any]:
    place = parts.parallel.stage_ipus[stage]
    each, schedule = parts.classes[place], parts.schedule
    worst = each.memory.worst_tile
    return {
        "stage": stage,
        "ipu": place,
        "begins": parts.staging.splits[stage - 1] if stage else _first(each, stage),
        "operators": sum(1 for of in each.stage_of if of == stage),
        **{f"{name}_seconds": seconds for name, seconds in _by_part(parts, place, stage).items()},
        "forward_seconds": parts.seconds(int(schedule.forward[stage])),
        "backward_seconds": parts.seconds(int(schedule.backward[stage])),
        "update_seconds": parts.seconds(schedule.update[place]),
        "bubble_seconds": parts.seconds(schedule.bubble(place)),
        "copy_seconds": parts.seconds(sum(event.total for event in each.timeline.copies)),
        "worst_tile_bytes": int(each.memory.tile_bytes[worst]),
        "fits": each.overflow is None,
    }


def _first(each: IpuClass, stage: int) -> str:
    """The first node of the model that runs in ``stage``."""
    forward = np.flatnonzero(each.graph.ops.pass_ == Pass.FORWARD).tolist()
    named = (each.graph.ops.source[i] for i in forward if each.stage_of[i] == stage)
    return next((source for source in named if source), "")


def _by_part(parts: Parts, place: int, stage: int) -> dict[str, float]:
    """What the operators of a stage do in one micro-batch, in seconds: update and shared work apart."""
    each, columns = parts.classes[place], parts.schedule.columns[place]
    own = (np.asarray(each.stage_of) == stage) & (each.graph.ops.pass_ != Pass.UPDATE)
    sums = columns[own].sum(axis=0).tolist()
    return {name: parts.seconds(cycles) for name, cycles in zip(("compute", "exchange", "sync"), sums, strict=True)}
