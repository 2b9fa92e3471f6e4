"""Energy and price from published power and price, by hand."""

import pytest

from simulator import RunConfig, simulate
from simulator.report.build import build
from simulator.report.text import worded
from tests.simulator.report.made import dense


def test_energy_is_power_times_time() -> None:
    report = build(dense())
    costs, system = report["costs"], dense().parallel.system
    assert costs["watts"] == system.watts_for(4) > 1000
    assert costs["energy"]["joules_a_step"] == pytest.approx(costs["watts"] * report["step_seconds"])
    assert costs["energy"]["joules_a_sample"] == pytest.approx(costs["watts"] / report["samples_per_second"])


def test_price_is_the_list_price_over_its_years_and_electricity() -> None:
    report = build(dense())
    price = report["costs"]["price"]
    hourly = price["list_usd"] / (3 * 8760) + report["costs"]["watts"] / 1000 * 0.15
    assert price["usd_an_hour"] == pytest.approx(hourly)
    assert price["usd_a_million_samples"] == pytest.approx(hourly / 3600 / report["samples_per_second"] * 1e6)
    assert "3 years" in price["formula"]


def test_a_system_without_a_list_price_says_so() -> None:
    assert build(dense())["costs"]["no_price"] == ""
    report = simulate("zoo:mnist", RunConfig(task="infer", system="c600", batch=1))
    assert report["costs"]["price"] is None
    assert report["costs"]["no_price"] == "no list price of a C600 card is published"
    assert report["costs"]["no_price"] in worded(report)
