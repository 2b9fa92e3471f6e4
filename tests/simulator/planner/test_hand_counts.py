"""Cycles counted by hand from the published formulas of the cycle estimators, the exchange and the reductions."""

import numpy as np
import pytest

from simulator.graph.graph import Kind
from simulator.machines.ipu import ipu
from simulator.planner.contraction import contraction
from simulator.planner.elementwise import elementwise_cycles
from simulator.planner.exchange import exchange, together
from simulator.planner.grid import plan_contraction
from simulator.planner.movement import copy_work, dynamic_slice_work, plan_movement
from simulator.planner.reduction import reduce_add_cycles, stage_depths, stages
from simulator.planner.vertices import amp, amp_cycles, block_cycles, dot_cycles, worker_cycles

CHIP = ipu("GC200")


def tiles(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(("positions", "cycles"), [(96, 568), (97, 592)])
def test_a_half_block_of_16_by_16_takes_four_cycles_a_position_and_184(positions: int, cycles: int) -> None:
    # 96: six workers of 16 positions, 83 cycles each: 6 x 83 + 64 weight load + 6; 97: one worker has 17, 87 cycles
    assert block_cycles(amp(True, True, CHIP), tiles(positions), CHIP) == cycles
    assert cycles == 4 * (-(-positions // 6) * 6) + 184


def test_single_partials_run_the_inner_loops_twice() -> None:
    # only 8-unit codelets go from half to single: two passes over 16 output channels, each with half the weights.
    # "Twice" is of the workers' loops (2 x 6 x 83); the weight load of the two passes together stays 64 cycles.
    half, mixed = amp(True, True, CHIP), amp(True, False, CHIP)
    assert (half.passes, mixed.passes) == (1, 2)
    assert mixed.passes * 6 * int(worker_cycles(mixed, tiles(16))[0]) == 2 * 498 == 996
    assert mixed.passes * int(block_cycles(mixed, tiles(96), CHIP)[0]) == 996 + 64 + 2 * 6
    whole = [int(amp_cycles(u, tiles(1), tiles(96), 1, tiles(16), tiles(16), 1, CHIP)[0]) for u in (half, mixed)]
    assert whole[1] - whole[0] == 498 + 6


def test_the_first_generation_halves_the_matrix_unit() -> None:
    old = ipu("GC2")
    for half, half_partials, rate in ((True, True, 32), (True, False, 32), (False, False, 8)):
        unit = amp(half, half_partials, old)
        macs = 6_000_000 * unit.in_grain * unit.out_grain
        assert macs / (unit.passes * int(block_cycles(unit, tiles(6_000_000), old)[0])) == pytest.approx(rate, rel=1e-3)


def test_8_bit_floats_do_128_macs_a_cycle_where_the_chip_has_them() -> None:
    new = ipu("C600")
    unit = amp(True, True, new, quarter=True)
    macs = 6_000_000 * unit.in_grain * unit.out_grain
    assert macs / (unit.passes * int(block_cycles(unit, tiles(6_000_000), new)[0])) == pytest.approx(128, rel=1e-3)


def test_copying_8_kib_on_a_tile() -> None:
    # 1,024 vectors over six workers are 170 each and four over; 6 x 170 + 288 = 1,308 as measured
    assert copy_work(tiles(8192, 0), CHIP).tolist() == [1308, 0]


def test_a_dynamic_slice_of_2400_half() -> None:
    # 400 a worker are 100 vectors of four: 25 + 6 x (39 + 24 + 2 x 100)
    assert dynamic_slice_work(tiles(2400), 2, CHIP).tolist() == [1603]
    plan = plan_movement("dynamic_slice", 2400, 2, CHIP)
    assert int(plan.compute.max()) == int(dynamic_slice_work(plan.outputs, 2, CHIP).max())


def test_the_matrix_unit_does_64_32_and_16_macs_a_cycle() -> None:
    many = tiles(6_000_000)
    for half, half_partials, rate in ((True, True, 64), (True, False, 32), (False, False, 16)):
        unit = amp(half, half_partials, CHIP)
        macs = int(many[0]) * unit.in_grain * unit.out_grain
        reached = macs / (unit.passes * int(block_cycles(unit, many, CHIP)[0]))
        assert reached == pytest.approx(rate, rel=0.001)


def test_the_dot_product_vertex_is_slower_than_the_matrix_unit_on_wide_channels() -> None:
    wide = dot_cycles(True, tiles(1), tiles(96), 1, tiles(16), tiles(16), 1, CHIP)
    assert wide > 568


@pytest.mark.parametrize(
    ("function", "dtype", "cycles"),
    [
        ("add", "float16", 6 * (26 + 50 * 3) + 11),  # 1,067
        ("add", "float32", 6 * (29 + 100 * 3) + 11),  # 1,985
        ("exp", "float16", 6 * (33 + 50 * 4) + 20),
        ("tanh", "float32", 6 * (26 + 100 * 10) + 9),
    ],
)
def test_1200_elements_on_one_tile(function: str, dtype: str, cycles: int) -> None:
    assert elementwise_cycles((function,), dtype, 2, tiles(1200), CHIP) == cycles


def test_adding_a_scalar_is_cheaper_than_adding_a_tensor() -> None:
    assert elementwise_cycles(("add",), "float16", 1, tiles(1200), CHIP) == 6 * (20 + 50 * 2) + 11


def test_a_fused_chain_pays_loads_and_stores_once() -> None:
    apart = sum(int(elementwise_cycles((f,), "float32", 2, tiles(1200), CHIP)[0]) for f in ("mul", "add"))
    fused = int(elementwise_cycles(("mul", "add"), "float32", 2, tiles(1200), CHIP)[0])
    assert 6 * (29 + 100 * 3 + 100 * 2) + 11 == fused < apart


def test_an_idle_tile_takes_no_cycles() -> None:
    assert elementwise_cycles(("add",), "float32", 2, tiles(0), CHIP) == 0
    assert reduce_add_cycles(4, tiles(0), True, CHIP) == 0


def test_reduce_add_of_four_half_partials_into_480_outputs() -> None:
    # 60 vectors of 8 over six workers: 10 each, (3 x 4 + 9) cycles a vector and 32 to start
    assert reduce_add_cycles(4, tiles(480), True, CHIP) == 6 * (32 + 21 * 10) == 1452


@pytest.mark.parametrize(("depth", "wanted"), [(1, 0), (2, 1), (15, 1), (16, 2), (124, 2), (125, 3), (1472, 3)])
def test_stages_of_a_reduction(depth: int, wanted: int) -> None:
    assert stages(depth) == wanted
    assert len(stage_depths(depth)) == wanted
    assert int(np.prod(stage_depths(depth), initial=1)) >= depth


def test_swapping_4_kib_takes_1024_cycles_in_full_duplex() -> None:
    both = tiles(4096, 4096)
    assert exchange(both, both, copies_bytes=8192).cycles(CHIP).tolist() == [1024, 1024]


def test_the_tiles_of_a_pair_receive_the_same_data_at_twice_the_rate() -> None:
    received = tiles(4096, 4096, 0)
    moved = exchange(received, tiles(0, 0, 4096), shared=received, copies_bytes=8192)
    assert moved.cycles(CHIP).tolist() == [512, 512, 1024]


def test_all_tiles_sending_4_kib_to_one_wait_for_its_input() -> None:
    receive = np.zeros(1472, dtype=np.int64)
    send = np.full(1472, 4096, dtype=np.int64)
    receive[0], send[0] = 1471 * 4096, 0
    assert int(exchange(receive, send, copies_bytes=1471 * 4096).cycles(CHIP).max()) == 1471 * 1024 == 1_506_304


def test_many_small_fragments_cost_their_control_instructions() -> None:
    # 256 bytes in runs of 4: 64 fragments of 3 instructions outlast 64 cycles of payload
    receive, send = tiles(256, *[0] * 64), tiles(0, *[4] * 64)
    assert int(exchange(receive, send, piece=4, copies_bytes=256).cycles(CHIP)[0]) == 192
    assert int(exchange(receive, send, piece=256, copies_bytes=256).cycles(CHIP)[0]) == 64


@pytest.mark.parametrize(
    ("chip", "half", "half_partials", "size", "teraflops"),
    [("GC2", True, False, 2944, 58.9), ("GC2", False, False, 2048, 18.9), ("GC200", False, False, 2560, 44.2)],
)
def test_large_products_reach_about_what_was_measured(
    chip: str, half: bool, half_partials: bool, size: int, teraflops: float
) -> None:
    # best of square products: Jia 2019 (GC2, mixed and single) and Shekofteh 2023 (GC200, single), both recalled
    machine = ipu(chip)
    sizes = {"batch": 1, "m": size, "k": size, "n": size}
    problem = contraction(Kind.MATMUL, sizes, half=half, half_partials=half_partials, resident=(True, True))
    cycles = plan_contraction(problem, machine, 0.6).cycles
    assert 2 * size**3 * machine.clock_hz / cycles / 1e12 == pytest.approx(teraflops, rel=0.15)


def test_two_transfers_of_one_phase_share_the_wires() -> None:
    one = exchange(tiles(400, 0), tiles(0, 400), copies_bytes=400)
    other = exchange(tiles(0, 400), tiles(400, 0), copies_bytes=400)
    assert together(one, one).cycles(CHIP).tolist() == [200, 200]
    assert together(one, other).cycles(CHIP).tolist() == [100, 100], "opposite ways do not disturb each other"


def test_exchange_code_grows_with_fragments_and_with_sends() -> None:
    one = exchange(tiles(256, 0), tiles(0, 256), piece=256, copies_bytes=256).code_bytes(CHIP)
    many = exchange(tiles(256, 0), tiles(0, 256), piece=128, copies_bytes=256).code_bytes(CHIP)
    assert one.tolist() == [4, 4]
    assert many.tolist() == [8, 4]
