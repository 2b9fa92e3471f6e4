"""Prices are products of counted features, whole, and never less than what any tile does."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import SimulatorError
from simulator.machines.constants import NAMES, NOMINAL, constants, fitted
from simulator.machines.ipu import ipu
from simulator.planner.contraction import Contraction
from simulator.planner.grid import plan_contraction
from simulator.planner.plan import COMPUTE_PARTS, Part, Plan
from simulator.planner.pricing import features, in_three, price, priced, tile_cycles
from simulator.planner.slices import Slices, plan_gather

CHIP = ipu("GC200")
KERNEL = {"matrix": (Part.MATRIX,), "exchange": (Part.EXCHANGE,), "superstep": (Part.SYNC,)}
KERNEL["vector"] = (Part.VECTOR, Part.REDUCE, Part.COPY)


def a_product() -> Plan:
    """A product whose weights must move, long enough in its inner dimension to need sums of partials."""
    problem = Contraction(1, 1, 64, 1, 40_000, 64, 1, 64, 1, 1.0, 0, 1, True, True, (False, False))
    return plan_contraction(problem, CHIP, 0.6)


def a_gather() -> Plan:
    return plan_gather(Slices(500, 128, 30_000, 2, False, True), CHIP)


@pytest.mark.parametrize("plan", [a_product(), a_gather()], ids=["product", "gather"])
def test_nominal_constants_cost_what_was_documented(plan: Plan) -> None:
    assert price(plan).total == plan.cycles == sum(plan.features)
    compute, exchange = tile_cycles(plan)
    assert (compute is plan.compute, exchange is plan.exchange) == (True, True)


def test_every_part_of_compute_is_counted_once() -> None:
    plan = a_product()
    assert {part for part, _ in plan.by_part} <= set(COMPUTE_PARTS)
    assert (sum(cycles for _, cycles in plan.by_part) == plan.compute).all()
    assert plan.features[Part.MATRIX] > 0 < plan.features[Part.REDUCE]


@pytest.mark.parametrize("name", ["matrix", "vector", "exchange", "superstep"])
def test_each_scale_changes_the_price_of_its_own_part_alone(name: str) -> None:
    before, after = (priced(features([a_product()]), c)[0] for c in (NOMINAL, replace(NOMINAL, **{name: 1.5})))
    parts = list(KERNEL[name])
    assert (after[parts] == -(-3 * before[parts] // 2)).all()
    assert after[parts].sum() > before[parts].sum()
    assert set(np.flatnonzero(after != before)) <= set(parts)


def test_no_tile_does_more_than_the_price_says() -> None:
    odd = constants({"matrix": 1.137, "vector": 0.731, "exchange": 1.0617}, sdk=2.1)
    for plan in (a_product(), a_gather()):
        compute, exchange = tile_cycles(plan, odd)
        whole = price(plan, odd)
        assert int(compute.max()) <= whole.compute
        assert int(exchange.max()) <= whole.exchange


def test_an_older_sdk_works_longer_by_the_slope() -> None:
    slope = replace(NOMINAL, sdk_slope=0.1).of_sdk(2.3)
    assert slope.age == pytest.approx(1.1)
    assert price(a_gather(), slope).total == pytest.approx(1.1 * price(a_gather()).total, rel=0.001)
    assert constants({"sdk_slope": 0.1}, sdk=3.4).age == 1.0


def test_prices_of_many_plans_are_those_of_each() -> None:
    plans, some = [a_product(), a_gather(), a_product()], constants({"matrix": 1.2, "vector": 1.7})
    rows = in_three(priced(features(plans), some)).tolist()
    assert rows == [[p.compute, p.exchange, p.sync] for p in (price(plan, some) for plan in plans)]
    assert in_three(priced(features([]), some)).shape == (0, 3)


def test_at_most_twelve_numbers_are_fitted_and_each_says_why_and_within_what() -> None:
    assert set(fitted()) == set(NAMES)
    assert len(NAMES) <= 12
    for found in fitted().values():
        assert found.low <= found.value <= found.high
        assert found.confidence in ("nominal", "fitted")
        assert len(found.source) > 10


def test_constants_read_their_own_overrides_and_refuse_names_they_do_not_know() -> None:
    assert constants({"chip.clock": 1e9, "fitted.link": 2.0}) == replace(constants(), link=2.0)
    for name in ("fitted.magic", "magic", "age"):
        with pytest.raises(SimulatorError, match=r"fitted\.matrix") as refused:
            constants({name: 2.0})
        assert refused.value.code == "machine.constant_unknown"
