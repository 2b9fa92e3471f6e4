"""Headline figures down to formula, terms and constants; and what differs from hardware."""

from dataclasses import replace
from typing import Any

import pytest

from simulator import RunConfig
from simulator.machines.constants import NOMINAL
from simulator.memory.lifetimes import CATEGORIES
from simulator.report.build import build
from simulator.report.differences import differences
from simulator.report.provenance import HELD, OF_NO_TIME
from tests.simulator.report.made import dense


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return build(dense())


def test_terms_of_the_step_add_up_and_name_constants_that_exist(report: dict[str, Any]) -> None:
    step = next(row for row in report["provenance"]["headline"] if row["figure"] == "step_seconds")
    assert sum(term["value"] for term in step["terms"]) == pytest.approx(report["step_seconds"])
    known = {constant["name"] for constant in report["provenance"]["constants"]}
    used = [name for term in step["terms"] for name in term["constants"]]
    assert used
    assert set(used) <= known


def test_bytes_of_the_fullest_tile_add_up(report: dict[str, Any]) -> None:
    fit = next(row for row in report["provenance"]["headline"] if row["figure"].startswith("memory"))
    assert fit["value"] == report["memory"]["worst_tile"]["bytes"] == sum(term["value"] for term in fit["terms"])


def test_differences_depend_on_the_run() -> None:
    def codes(config: RunConfig, ipus: int = 1, domains: int = 1) -> set[str]:
        return {row["code"] for row in differences(config, ipus, domains)}

    plain = codes(RunConfig(task="infer"))
    assert {"cycles", "exchange", "host"} <= plain
    assert codes(RunConfig(precision="fp16")) - plain == {"rounding"}
    assert codes(RunConfig(task="infer"), 128, 2) - plain == {"links", "gateway"}
    assert codes(RunConfig(task="infer", machine={"chip.clock": 2e9})) - plain == {"variant"}


def test_every_category_of_memory_says_how_it_is_counted(report: dict[str, Any]) -> None:
    assert set(HELD) == set(CATEGORIES)
    known = {constant["name"] for constant in report["provenance"]["constants"]}
    assert {name for _, names in HELD.values() for name in names} <= known
    assert known >= OF_NO_TIME


def test_a_scale_that_a_run_sets_is_told_as_given() -> None:
    constants = build(dense(priced=replace(NOMINAL, matrix=1.25)))["provenance"]["constants"]
    matrix = next(constant for constant in constants if constant["name"] == "fitted.matrix")
    assert (matrix["value"], matrix["confidence"]) == (1.25, "given")
