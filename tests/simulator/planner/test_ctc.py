"""Cost of CTC: a superstep a frame, dearer with frames and tokens, within what a tile may hold."""

from __future__ import annotations

import pytest

from simulator.machines.catalogue import system
from simulator.planner.ctc import SHARE, plan_ctc
from simulator.planner.layout import linear
from simulator.planner.plan import Plan

IPU = system("pod4").variant({})


def _plan(batch: int = 4, frames: int = 304, tokens: int = 48, classes: int = 4233) -> Plan:
    return plan_ctc(batch, frames, tokens, classes, 2, linear(batch * frames * classes, 2, IPU), IPU)


def test_every_frame_is_a_superstep_half_of_them_without_a_slope() -> None:
    times = {step.name: step.times for step in _plan().supersteps}
    assert times["alpha and beta"] == times["slope"]
    assert 304 <= times["alpha and beta"] + times["slope"] <= 304 + 2 * 304 // 10


def test_a_step_costs_what_poplibs_counts() -> None:
    """One token and its blank at one frame: 44 cycles of a worker, 17 for the last blank; six contexts take turns."""
    plan = _plan(batch=1, frames=8, tokens=1, classes=4)
    step = next(s for s in plan.supersteps if s.name == "alpha and beta")
    assert step.compute == 6 * (44 + 17)


@pytest.mark.parametrize("dearer", [{"frames": 608}, {"tokens": 192}, {"batch": 16}, {"classes": 40_000}])
def test_more_costs_more(dearer: dict[str, int]) -> None:
    assert _plan(**dearer).cycles > _plan().cycles


def test_scores_and_slopes_of_a_tile_stay_within_its_share_of_memory() -> None:
    assert _plan().temporary.max() <= SHARE * IPU.bytes_per_tile
    assert _plan().temporary.sum() >= 4 * 304 * 49 * 6  # scores of tokens and the blank in fp16, their slopes in fp32
