"""Sweeps over a mesh: instructions counted by hand, cuts, halos inside an IPU and between IPUs, published times."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.machines.ipu import ipu
from simulator.planner.stencil import Sweeps, cut_of, cycles_of_vector, piece_cycles, plan_stencil, sweep_cycles, widest

CHIP = ipu("GC200")
HEAT = Sweeps((8000, 8000), 1, 5, 3, 6, 1000, 1, False, 1, 4, True)
SOLID = replace(HEAT, mesh=(127, 508, 508), points=7, rows=5, flops=8, pieces=4)
TRIAD = Sweeps((64_000_000,), 1, 2, 2, 2, 1, 2, True, 1, 4, False)


BLUR = Sweeps((1122, 2200), 4, 9, 3, 11, 200, 1, False, 1, 4, True, apart=11, grid="alike")


def part(*sides: int) -> np.ndarray:
    return np.array(sides, dtype=np.int64).reshape(-1, 1)


def test_a_plain_loop_issues_its_loads_its_store_its_pointers_and_a_branch() -> None:
    assert cycles_of_vector(HEAT) == 5 + 1 + 3 + 1
    assert cycles_of_vector(SOLID) == 7 + 1 + 5 + 1
    assert cycles_of_vector(TRIAD) == 1


def test_arithmetic_after_the_last_load_shares_no_bundle_and_channels_share_their_pointers() -> None:
    assert cycles_of_vector(BLUR) == 9 + 1 + 11 + 1
    assert cycles_of_vector(replace(BLUR, lanes=2)) == 9 + 1 + 11 + 2
    assert cycles_of_vector(replace(BLUR, lanes=4)) == 9 + 1 + 11 + 4
    assert cycles_of_vector(replace(BLUR, apart=0)) == 9 + 1 + 1


def test_a_tile_waits_for_its_slowest_worker() -> None:
    assert sweep_cycles(TRIAD, part(600), CHIP).tolist() == [6 * (20 + 50) + 11]
    assert sweep_cycles(HEAT, part(6, 100), CHIP).tolist() == [6 * (20 + 100 * 10) + 11]
    assert sweep_cycles(HEAT, part(7, 100), CHIP).tolist() == [6 * (20 + 200 * 10) + 11]  # one has two rows
    assert sweep_cycles(replace(HEAT, lanes=4), part(6, 101), CHIP).tolist() == [6 * (20 + 26 * 10) + 11]
    assert sweep_cycles(SOLID, part(2, 3, 10), CHIP).tolist() == [6 * (20 + 10 * 14) + 11]
    assert sweep_cycles(HEAT, part(0, 0), CHIP).tolist() == [0]


def test_cells_of_channels_are_gathered_and_spread_in_pieces() -> None:
    assert piece_cycles(BLUR, (2, 2), part(45, 46), CHIP)[0] == 2 * 45 * 14 * 6
    assert not piece_cycles(HEAT, (2, 2), part(45, 46), CHIP).any()
    assert not piece_cycles(BLUR, (2, 1), part(45, 46), CHIP).any()
    assert [step.name for step in plan_stencil(BLUR, CHIP).supersteps] == ["gather faces", "spread faces", "sweep"]


def test_a_mesh_is_cut_so_that_the_largest_part_is_small() -> None:
    assert cut_of((8000, 8000), CHIP) == (46, 32)  # 174 rows: 29 for each worker
    assert cut_of((1122, 2200), ipu("GC2"), "alike") == (25, 48)
    assert cut_of((71, 2200), ipu("GC2"), "alike") == (7, 173)
    assert cut_of((10, 1), CHIP) == (10, 1)
    assert int(plan_stencil(HEAT, CHIP).outputs.sum()) == 64_000_000


def test_a_tile_receives_the_cells_round_it() -> None:
    plan = plan_stencil(replace(HEAT, mesh=(64, 46), steps=1), CHIP)  # two cells on each of 1,472 tiles
    assert plan.received == 1472 * (2 + 2 * 2) * 4 or plan.received == 1472 * (2 * 1 + 2 * 2) * 4
    assert plan.sent == plan.received


def test_the_face_between_ipus_takes_the_links_and_their_sync() -> None:
    shared = plan_stencil(replace(HEAT, pieces=16), CHIP)
    face = 8000 * 4 / (16e9 * 0.85 * 2)
    least = (face + 2 * 15e-9 * (1 + 16 // 4)) * CHIP.clock_hz
    assert shared.supersteps[0].exchange >= least
    assert shared.cycles > plan_stencil(HEAT, CHIP).cycles


def test_steps_run_one_after_the_other() -> None:
    assert plan_stencil(HEAT, CHIP).cycles == 1000 * plan_stencil(replace(HEAT, steps=1), CHIP).cycles
    assert plan_stencil(HEAT, CHIP).flops == 64_000_000 * 6 * 1000


def test_the_triad_by_hand_comes_within_a_hundredth_of_24_bytes_a_cycle() -> None:
    plan = plan_stencil(TRIAD, CHIP)
    bytes_a_cycle = 64_000_000 * 12 / plan.cycles / CHIP.tiles
    assert 0.98 * 24 < bytes_a_cycle < 24


@pytest.mark.parametrize(
    ("sweeps", "seconds"),  # published: SciCoLab/WaveEquation-IPU, GC200
    [
        (HEAT, 0.30),
        (replace(HEAT, mesh=(5000, 10_000), pieces=2), 0.28),
        (replace(HEAT, mesh=(1688, 27_000), pieces=16), 0.25),
        (SOLID, 0.26),
    ],
)
def test_counted_instructions_are_near_published_times(sweeps: Sweeps, seconds: float) -> None:
    assert plan_stencil(sweeps, CHIP).cycles / CHIP.clock_hz == pytest.approx(seconds, rel=0.12)


@pytest.mark.parametrize(("itemsize", "lanes"), [(8, 1), (4, 2), (2, 4), (1, 4)])
def test_an_instruction_is_no_wider_than_a_pair_of_registers(itemsize: int, lanes: int) -> None:
    assert widest(itemsize) == lanes
