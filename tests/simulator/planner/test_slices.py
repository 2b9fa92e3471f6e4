"""Gathers and updates: hand counts, the choice of splits, exact sums, and the measured grid of a Bow IPU."""

import csv
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simulator.machines.ipu import ipu
from simulator.planner.elementwise import plan_elementwise
from simulator.planner.layout import linear
from simulator.planner.movement import plan_movement
from simulator.planner.plan import Part
from simulator.planner.slice_choice import Slices, Splits, choose_slices, slice_cycles, update_cycles, useful_cuts
from simulator.planner.slices import Laid, plan_gather, plan_update, table_spread

CHIP = ipu("GC200")
BOW = ipu("Bow")
SHARED = Path(os.environ.get("PODIUM_SHARED", Path(__file__).parents[4] / "shared"))
KERNELS = SHARED / "reference" / "published" / "kernels"


def one(value: int) -> np.ndarray:
    return np.array([value], dtype=np.int64)


def test_a_slice_of_one_row_of_128_single_elements() -> None:
    # 30 to start, 19 for the hit, 64 vectors of two cycles, six times
    assert int(slice_cycles(one(1), one(0), one(128), 4, CHIP)[0]) == 6 * (30 + 19 + 128) == 1062


def test_an_update_of_one_row_of_128_single_elements() -> None:
    # 32 to start, 12 for the hit, three cycles for each of the 127 further words, six times
    assert int(update_cycles(one(1), one(0), one(128), 4, CHIP)[0]) == 6 * (32 + 12 + 3 * 127) == 2550


def test_every_worker_reads_every_offset_of_an_update() -> None:
    assert int(update_cycles(one(0), one(10), one(2), 4, CHIP)[0]) == 6 * (32 + 50)


def test_useful_cuts_each_make_the_largest_part_smaller() -> None:
    assert useful_cuts(10, 100).tolist() == [1, 2, 3, 4, 5, 10]
    assert useful_cuts(10, 4).tolist() == [1, 2, 3, 4]


def test_small_tables_are_copied_to_every_group_of_lookups_and_large_ones_are_cut() -> None:
    small, large = Slices(128, 16, 16, 4, False, True), Slices(32, 16, 512, 4, False, True)
    assert choose_slices(small, BOW) == Splits(8, 1, 22)
    assert choose_slices(large, BOW).table > 1


def test_the_memory_proportion_changes_the_choice() -> None:
    wide = Slices(65_536, 256, 16_384, 4, False, True)
    tight = replace(wide, proportion=0.3)
    assert choose_slices(wide, CHIP) != choose_slices(tight, CHIP)
    assert plan_gather(tight, CHIP).temporary.max() < plan_gather(wide, CHIP).temporary.max()


@pytest.mark.parametrize("slices", [Slices(1000, 100, 777, 4, False, True), Slices(64, 3, 5, 2, True, True)])
def test_rows_and_tables_are_laid_exactly(slices: Slices) -> None:
    laid = Laid(slices, CHIP)
    assert int(laid.stored.sum()) == slices.table_rows * slices.row_elements == table_spread(slices, CHIP).total
    assert int((laid.kept * laid.width).sum()) == slices.rows * slices.row_elements


def test_a_cut_table_needs_a_second_slice_and_renumbered_indices() -> None:
    names = [step.name for step in plan_gather(Slices(32, 16, 512, 4, False, True), BOW).supersteps]
    assert names == ["slice", "number rows", "adjust indices", "pick part"]
    assert [s.name for s in plan_gather(Slices(128, 16, 16, 4, False, True), BOW).supersteps] == ["slice"]


def test_parts_of_a_power_of_two_rows_are_found_by_a_shift() -> None:
    shift, divide = (
        plan_gather(Slices(32, 16, 256, 4, False, True), BOW),
        plan_gather(Slices(32, 16, 512, 4, False, True), BOW),
    )
    found = [next(s.compute for s in plan.supersteps if s.name == "adjust indices") for plan in (shift, divide)]
    # 32 indices on a tile: six of the slowest worker, 17 cycles each against 72
    assert found == [6 * (29 + 6 * 17) + 11, 6 * (29 + 6 * 72) + 11]


def test_groups_of_lookups_add_up_their_partial_tables() -> None:
    many = plan_update(Slices(4096, 64, 128, 4, True, True), BOW)
    few = plan_update(Slices(16, 64, 8192, 4, True, True), BOW)
    assert many.features[Part.REDUCE] > 0
    assert few.features[Part.REDUCE] == 0
    assert int(many.outputs.sum()) == 64 * 128


def errors(kernel: str) -> np.ndarray:
    """Signed errors on one point in four of the grid: those that no constant was looked up on."""
    with (KERNELS / f"hydronet_bow_{kernel}.csv").open(encoding="utf-8") as file:
        rows = [{k: float(v) for k, v in row.items() if k} for row in csv.DictReader(file)]
    counter = plan_elementwise(("add",), "int32", 1, linear(1, 4, BOW), (), BOW).cycles
    found = []
    for row in rows[3::4]:
        inputs, width, outputs = (int(row[name]) for name in ("num_inputs", "num_features", "num_outputs"))
        if kernel == "gather":
            plan = plan_gather(Slices(outputs, width, inputs, 4, False, True), BOW)
        else:
            plan = plan_update(Slices(inputs, width, outputs, 4, True, True), BOW)
        trip = plan.cycles + plan_movement("carry", outputs * width, 4, BOW).cycles + counter
        found.append((trip - row["cycles"]) / row["cycles"])
    return np.array(found)


@pytest.mark.skipif(not KERNELS.is_dir(), reason=f"no measured kernels in {SHARED} (PODIUM_SHARED)")
@pytest.mark.parametrize(("kernel", "median", "ninth"), [("gather", 0.11, 0.17), ("scatter_add", 0.07, 0.20)])
def test_documented_cycles_are_near_the_measured_grid(kernel: str, median: float, ninth: float) -> None:
    found = np.abs(errors(kernel))
    assert np.median(found) < median
    assert np.quantile(found, 0.9) < ninth
