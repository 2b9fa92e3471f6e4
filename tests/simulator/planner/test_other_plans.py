"""Element-wise, row-wise and moving operators: exact sums, supersteps, and costs that follow size and precision."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from simulator.machines.ipu import Ipu, ipu
from simulator.planner.composite import plan_norm, plan_softmax, rows_of
from simulator.planner.elementwise import codelet, known, plan_elementwise
from simulator.planner.layout import Layout, Spread, linear, scaled
from simulator.planner.movement import plan_movement
from simulator.planner.plan import Plan
from simulator.planner.rows import (
    plan_fallback,
    plan_pool,
    plan_random,
    plan_reduce,
    plan_sort,
)
from simulator.planner.shares import proportional, shares, spread
from simulator.planner.slices import Slices, plan_gather, plan_update

CHIP = ipu("GC200")


@pytest.mark.parametrize(("amount", "parts", "grain"), [(10, 4, 1), (10, 4, 4), (0, 3, 1), (7, 9, 2), (1000, 7, 16)])
def test_shares_are_ragged_and_exact(amount: int, parts: int, grain: int) -> None:
    found = shares(amount, parts, grain)
    assert int(found.sum()) == amount
    assert len(found) == parts
    assert int(found.max() - found.min()) <= 2 * grain
    assert np.count_nonzero(found % grain) <= 1, "only one share holds the broken grain"


def test_proportional_is_exact_even_beyond_64_bits() -> None:
    weights = np.array([2**40, 2**41, 1, 0], dtype=np.int64)
    found = proportional(2**30 + 1, weights)
    assert int(found.sum()) == 2**30 + 1
    assert found[3] == 0


def test_a_linear_mapping_gives_128_bytes_a_tile_at_least() -> None:
    small = linear(64, 4, CHIP)
    assert small.used == 2
    assert small.elements[:3].tolist() == [32, 32, 0]
    large = linear(1_000_003, 2, CHIP)
    assert large.used == CHIP.tiles
    assert large.total == 1_000_003


def test_layouts_are_equal_when_counts_and_start_are() -> None:
    one, same = Layout(linear(64, 4, CHIP), 10), Layout(Spread(spread(64, 2, CHIP.tiles)), 10)
    assert one == same
    assert hash(one) == hash(same)
    assert one != Layout(one.spread, 12)
    assert one.on_tiles()[10] == 32
    assert scaled(128, one.spread).elements[:2].tolist() == [64, 64]
    assert Layout(one.spread, 1471).on_tiles()[[1471, 0]].tolist() == [32, 32], "a layout wraps round"


EMBEDDING = Slices(512, 768, 30_522, 2, False, True)
HOME = linear(1472 * 240, 4, CHIP)


def norm(name: str, rows: int, columns: int, *, across: int = 0, dtype: str = "float16") -> Plan:
    where = linear(rows * columns, 2 if dtype == "float16" else 4, CHIP)
    return plan_norm(name, rows, columns, across, dtype, where, (), CHIP)


def softmax(name: str, rows: int, columns: int, *, across: int = 0, dtype: str = "float16") -> Plan:
    where = linear(rows * columns, 2 if dtype == "float16" else 4, CHIP)
    return plan_softmax(name, rows, columns, across, dtype, where, (), CHIP)


PLANS = {
    "add": plan_elementwise(("add",), "float32", 2, HOME, (), CHIP),
    "add elsewhere": plan_elementwise(("add",), "float32", 2, HOME, ((1472 * 240, 4),), CHIP),
    "bias": plan_elementwise(("add",), "float32", 2, HOME, ((64, 4),), CHIP),
    "transpose": plan_movement("transpose", 100_001, 2, CHIP),
    "concatenate": plan_movement("concatenate", 100_001, 2, CHIP),
    "iota": plan_movement("iota", 1000, 4, CHIP),
    "gather": plan_gather(EMBEDDING, CHIP),
    "scatter": plan_update(replace(EMBEDDING, update=True), CHIP),
    "reduce": plan_reduce(0, "reduce_sum", HOME.total, 64, 4, HOME, CHIP),
    "reduce all": plan_reduce(0, "reduce_sum", HOME.total, 1, 4, HOME, CHIP),
    "reduce little": plan_reduce(0, "reduce_sum", HOME.total, HOME.total // 2, 4, HOME, CHIP),
    "reduce channels": plan_reduce(92, "reduce_sum", HOME.total, 64, 4, HOME, CHIP),
    "cumulative": plan_reduce(0, "cumulative", HOME.total, HOME.total, 4, HOME, CHIP),
    "norm": norm("normalise", 8192, 768),
    "norm backward": norm("normalise_backward", 8192, 768),
    "root mean square": norm("rms_norm", 8192, 768),
    "root mean square backward": norm("rms_norm_backward", 8192, 768),
    "norm of few rows": norm("batch_norm", 64, 50_176, across=368, dtype="float32"),
    "softmax": softmax("softmax", 6144, 512),
    "softmax over tiles": softmax("softmax", 6144, 512, across=8),
    "softmax backward": softmax("softmax_backward", 6144, 512),
    "log softmax backward": softmax("log_softmax_backward", 6144, 512),
    "loss": softmax("cross_entropy", 16, 1000, dtype="float32"),
    "loss backward": softmax("cross_entropy_backward", 16, 1000, dtype="float32"),
    "pool": plan_pool(100_000, 9, False, 2, CHIP),
    "pool backward": plan_pool(100_000, 9, True, 2, CHIP),
    "random": plan_random(100_000, 4, CHIP),
    "sort": plan_sort(16, 1000, 4, CHIP),
    "fallback": plan_fallback("mystery", 100_000, 4, ((100_000, 4),), CHIP),
}


@pytest.mark.parametrize("name", PLANS)
def test_what_is_sent_arrives_and_nothing_is_negative(name: str) -> None:
    plan = PLANS[name]
    assert plan.received == plan.delivered
    assert plan.sent <= plan.received
    for column in (plan.compute, plan.exchange, plan.temporary, plan.exchange_code, plan.vertex_state, plan.outputs):
        assert column.shape == (CHIP.tiles,)
        assert int(column.min()) >= 0
    assert plan.cycles > 0
    assert sum(s.compute * s.times for s in plan.supersteps) >= int(plan.compute.max())


def cycles(plan: Plan) -> int:
    return plan.cycles


def test_an_operand_that_lies_elsewhere_must_be_fetched() -> None:
    assert PLANS["add"].received == 0
    assert PLANS["add elsewhere"].received == HOME.total * 4
    assert PLANS["bias"].received == 1472 * 64 * 4, "every tile needs all of a broadcast that is smaller than its part"
    assert PLANS["bias"].sent == 64 * 4, "and it is sent once"
    assert cycles(PLANS["add"]) < cycles(PLANS["bias"]) < cycles(PLANS["add elsewhere"])


def test_composites_have_their_supersteps() -> None:
    counts = {name: PLANS[name].superstep_count for name in ("softmax", "softmax backward", "norm", "norm backward")}
    assert counts == {"softmax": 6, "softmax backward": 4, "norm": 5, "norm backward": 4}
    names = ("root mean square", "root mean square backward")
    assert [PLANS[name].superstep_count for name in names] == [3, 2], "no mean is taken"
    # 368 tiles share a channel: three stages of joining and a broadcast
    assert PLANS["norm of few rows"].superstep_count == 5 + 3 + 1
    # the maximum and the sum are each joined once and broadcast
    assert PLANS["softmax over tiles"].superstep_count == 6 + 2 * 2


def test_a_row_in_order_is_cut_only_where_it_exceeds_a_tile() -> None:
    assert rows_of(1472, 100, 0, linear(147_200, 4, CHIP)).sharing == 1
    assert rows_of(16, 9200, 0, linear(147_200, 4, CHIP)).sharing == 92
    assert rows_of(16, 9200, 184, linear(147_200, 4, CHIP)).sharing == 184
    assert rows_of(16, 9200, 4, linear(147_200, 4, CHIP)).sharing == 92, "no piece of a row exceeds what a tile holds"


def test_a_bitonic_sort_runs_log_squared_stages() -> None:
    assert PLANS["sort"].superstep_count == 10 * 11 // 2


def test_backward_pools_and_transposes_cost_more_than_forward_and_copies() -> None:
    assert cycles(PLANS["pool backward"]) > cycles(PLANS["pool"])
    assert PLANS["transpose"].received == PLANS["concatenate"].received == 200_002
    assert PLANS["iota"].received == 0


def test_a_fallback_is_not_called_modelled() -> None:
    assert not PLANS["fallback"].modelled
    assert all(plan.modelled for name, plan in PLANS.items() if name != "fallback")


def test_an_unknown_function_is_priced_high_and_listed() -> None:
    plan = plan_elementwise(("lgamma",), "float32", 1, HOME, (), CHIP)
    assert not known("lgamma")
    assert not plan.modelled
    assert plan.cycles > PLANS["add"].cycles


@pytest.mark.parametrize(
    "function", ["add", "add_any", "select_n", "convert_element_type", "integer_pow", "erfc", "max"]
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16", "int32", "uint8", "bool"])
def test_common_functions_have_a_codelet_for_every_type(function: str, dtype: str) -> None:
    assert known(function)
    assert codelet(function, dtype, 2).cycles > 0


@pytest.mark.parametrize("plan", [plan_gather, plan_update])
def test_gathers_and_scatters_grow_with_rows_and_their_length(plan: Callable[[Slices, Ipu], Plan]) -> None:
    base = Slices(512, 256, 10_000, 2, plan is plan_update, True)
    assert plan(replace(base, rows=8192), CHIP).cycles > plan(base, CHIP).cycles
    assert plan(replace(base, row_elements=8192), CHIP).cycles > plan(base, CHIP).cycles


def test_a_table_that_lies_elsewhere_is_fetched_first() -> None:
    away = plan_gather(replace(EMBEDDING, resident=False), CHIP)
    assert away.received - plan_gather(EMBEDDING, CHIP).received >= 30_522 * 768 * 2
    assert away.cycles > plan_gather(EMBEDDING, CHIP).cycles


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_row_operators_grow_with_rows(factor: int) -> None:
    assert norm("normalise", 8192 * factor, 768).cycles > PLANS["norm"].cycles
    assert softmax("softmax", 6144 * factor, 512).cycles > PLANS["softmax"].cycles
    assert plan_pool(100_000 * factor, 9, False, 2, CHIP).cycles > PLANS["pool"].cycles
    assert plan_random(100_000 * factor, 4, CHIP).cycles > PLANS["random"].cycles


def test_half_precision_is_cheaper_than_single() -> None:
    assert softmax("softmax", 6144, 512, dtype="float32").cycles > PLANS["softmax"].cycles
    assert norm("normalise", 8192, 768, dtype="float32").cycles > PLANS["norm"].cycles
