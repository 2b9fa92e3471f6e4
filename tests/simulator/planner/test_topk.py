"""The largest of every row: stages counted by hand, cheaper than sorting all, dearer with more to keep."""

import pytest

from simulator.machines.ipu import ipu
from simulator.planner.rows import plan_sort
from simulator.planner.topk import plan_topk, stages

CHIP = ipu("Bow")


def test_runs_are_sorted_then_halved_until_one_is_left() -> None:
    # 64 columns, 4 kept: runs of 4 sorted in 1 + 2 comparisons, then 64 -> 32 -> 16 -> 8 -> 4, each put in order by 2
    assert stages(64, 4) == ((64, 3), (64, 1), (32, 2), (32, 1), (16, 2), (16, 1), (8, 2), (8, 1), (4, 2))
    assert stages(8, 1) == ((8, 1), (4, 1), (2, 1))
    assert stages(4, 4) == ((4, 3),)


@pytest.mark.parametrize("kept", [1, 28, 200])
def test_a_few_are_cheaper_than_all(kept: int) -> None:
    assert plan_topk(576, 576, kept, 4, CHIP).cycles < plan_sort(576, 576, 4, CHIP).cycles


def test_more_to_keep_costs_more() -> None:
    assert plan_topk(576, 576, 28, 4, CHIP).cycles < plan_topk(576, 576, 256, 4, CHIP).cycles
    assert plan_topk(576, 576, 28, 4, CHIP).cycles < plan_topk(1344, 1344, 28, 4, CHIP).cycles
