"""Pipelines by hand: fill and drain, schedules, copies, who waits; against a micro-batch by micro-batch count."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest

from simulator.schedule.pipelining import Copies, beats, pipeline_cycles, pipelined, stash_depth, waiting


@pytest.mark.parametrize(("stages", "micro_batches", "cycles"), [(4, 192, 195), (8, 96, 103), (1, 7, 7)])
def test_a_pipeline_takes_as_many_cycles_as_micro_batches_and_stages_less_one(
    stages: int, micro_batches: int, cycles: int
) -> None:
    assert pipeline_cycles(stages, micro_batches) == cycles
    found = pipelined([10] * stages, [20] * stages, range(stages), micro_batches, "grouped")
    assert found.total == 30 * cycles


def by_hand(
    schedule: str, forward: Sequence[int], backward: Sequence[int], places: Sequence[int], micro_batches: int
) -> int:
    """Every micro-batch in every stage at its time; all wait for the slowest IPU of each time."""
    stages = len(forward)
    work: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for batch in range(micro_batches):
        for stage in range(stages):
            there = batch + stage if schedule == "grouped" else 2 * batch + stage
            back = batch + 2 * stages - 2 - stage if schedule == "grouped" else 2 * batch + 2 * stages - 1 - stage
            work[there][places[stage]] += forward[stage]
            work[back][places[stage]] += backward[stage]
    return sum(max(busy.values()) for busy in work.values())


@pytest.mark.parametrize("schedule", ["grouped", "interleaved"])
@pytest.mark.parametrize(("stages", "micro_batches"), [(2, 2), (3, 4), (4, 4), (5, 16), (8, 64)])
def test_uneven_stages_count_the_slowest_ipu_of_every_cycle(schedule: str, stages: int, micro_batches: int) -> None:
    chance = np.random.default_rng(stages)
    forward, backward = chance.integers(1, 100, stages).tolist(), chance.integers(1, 200, stages).tolist()
    places = [*range(stages - 1), 0] if stages > 2 else list(range(stages))
    found = pipelined(forward, backward, places, micro_batches, schedule)
    assert found.total == by_hand(schedule, forward, backward, places, micro_batches)
    assert all(found.bubble(ipu) >= 0 for ipu in range(max(places) + 1))


@pytest.mark.parametrize("schedule", ["grouped", "interleaved", "sequential"])
@pytest.mark.parametrize("back", [True, False])
def test_every_stage_runs_once_for_every_micro_batch(schedule: str, back: bool) -> None:
    runs, returns = np.zeros(5, dtype=int), np.zeros(5, dtype=int)
    for times, ahead, behind in beats(schedule, 5, 37, back):
        runs += times * ahead
        returns += times * behind
    assert runs.tolist() == [37] * 5
    assert returns.tolist() == [37 * back] * 5


def test_one_after_the_other_takes_the_sum_of_all_stages() -> None:
    assert pipelined([1, 2], [3, 4], [0, 1], 10, "sequential").total == 10 * (1 + 2 + 3 + 4)


def test_schedules_differ() -> None:
    totals = {s: pipelined([10] * 4, [25] * 4, range(4), 16, s).total for s in ("grouped", "interleaved", "sequential")}
    assert totals["grouped"] < totals["interleaved"] < totals["sequential"]


def test_the_slower_stage_sets_the_pace_and_the_others_wait() -> None:
    found = pipelined([10, 40, 10], [10, 40, 10], range(3), 100, "grouped")
    # stage 1 works forwards from cycle 1 to 100 and backwards from 3 to 102: both in 98 of them, one of both in 4
    assert found.total == 98 * 80 + 4 * 40 + 10 + 10
    assert found.bubble(1) < found.bubble(0) == found.bubble(2)


def test_copies_are_a_superstep_that_nothing_overlaps() -> None:
    up, down = np.array([[5.0], [0.0]]), np.array([[0.0], [7.0]])
    copies = Copies(up, down, sync=100)
    plain, copied = (pipelined([10, 10], [10, 10], [0, 1], 8, "grouped", c) for c in (None, copies))
    # the same link both ways here, so they add; the last cycle only returns to stage 0, which sends nothing
    assert copied.total - plain.total == copied.copying
    assert copied.copying == 1 * 105 + 7 * 112 + 1 * 107
    assert copied.copies == 9
    assert copied.bubble(0) == plain.bubble(0)


@pytest.mark.parametrize(
    ("schedule", "depths"),
    [("grouped", [7, 5, 3, 1]), ("interleaved", [4, 3, 2, 1]), ("sequential", [1, 1, 1, 1])],
)
def test_how_many_micro_batches_a_stage_holds(schedule: str, depths: list[int]) -> None:
    assert [stash_depth(schedule, 4, stage, 100) for stage in range(4)] == depths


@pytest.mark.parametrize(
    ("schedule", "made", "read", "back", "newer"),
    [
        ("grouped", 0, 3, False, 3),
        ("grouped", 0, 3, True, 3),
        ("grouped", 1, 2, True, 3),
        ("interleaved", 0, 3, False, 1),
        ("interleaved", 0, 0, True, 3),
        ("sequential", 0, 3, False, 0),
    ],
)
def test_a_later_stage_on_the_same_ipu_reads_after_newer_micro_batches_were_there(
    schedule: str, made: int, read: int, back: bool, newer: int
) -> None:
    assert waiting(schedule, 4, made, read, 100, back=back) == newer


def test_no_stage_holds_more_micro_batches_than_there_are() -> None:
    assert stash_depth("grouped", 8, 0, 8) == 8
