"""Whatever the shape: bytes and outputs are exact, memory is bounded or minimal, and no tile is negative."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as some

from simulator.graph.graph import Kind
from simulator.machines.ipu import ipu
from simulator.planner.contraction import contraction
from simulator.planner.grid import plan_contraction
from simulator.planner.plan import Plan

CHIP = ipu("GC200")
sizes = some.integers(1, 700)


def check(plan: Plan, outputs: int, proportion: float) -> None:
    assert plan.received == plan.delivered
    assert plan.sent <= plan.received
    assert int(plan.outputs.sum()) == outputs
    for column in (plan.compute, plan.exchange, plan.temporary, plan.exchange_code, plan.outputs):
        assert int(column.min()) >= 0
    assert int(plan.temporary.max()) <= proportion * CHIP.bytes_per_tile
    assert int(np.count_nonzero(plan.compute)) <= CHIP.tiles


@settings(max_examples=40, deadline=None, derandomize=True)
@given(some.integers(1, 40), sizes, sizes, sizes, some.booleans(), some.booleans(), some.booleans())
def test_any_matrix_product(batch: int, m: int, k: int, n: int, half: bool, partials: bool, resident: bool) -> None:
    attributes = {"batch": batch, "m": m, "k": k, "n": n}
    problem = contraction(Kind.MATMUL, attributes, half=half, half_partials=partials, resident=(False, resident))
    check(plan_contraction(problem, CHIP, 0.6), batch * m * n, 0.6)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    some.integers(1, 8), some.integers(1, 6), some.integers(1, 64), some.integers(1, 64), some.integers(1, 40),
    some.integers(1, 5), some.integers(1, 3), some.integers(1, 3), some.booleans(),
)  # fmt: skip
def test_any_convolution(
    batch: int, groups: int, ins: int, outs: int, field: int, kernel: int, stride: int, spread: int, half: bool
) -> None:
    out = max(1, field * spread // stride)
    attributes = {
        "batch": batch, "groups": groups, "in_channels": ins, "out_channels": outs, "field_in": (field, field),
        "field_out": (out, out), "kernel": (kernel, kernel), "stride": (stride, stride), "dilation": (1, 1),
        "input_dilation": (spread, spread),
    }  # fmt: skip
    problem = contraction(Kind.CONV, attributes, half=half, half_partials=False, resident=(False, True))
    check(plan_contraction(problem, CHIP, 0.6), batch * groups * outs * out * out, 0.6)
