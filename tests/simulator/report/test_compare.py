"""What changed between two reports: numbers worked out by hand, and words for each kind of change."""

import copy
from typing import Any

import pytest

from simulator.report.build import build
from simulator.report.causes import causes, spending_of, times
from simulator.report.compare import compare, worded
from tests.simulator.report.made import dense


@pytest.fixture
def before() -> dict[str, Any]:
    return dict(copy.deepcopy(build(dense())))


def row_of(report: dict[str, Any], name: str, pass_: str = "forward") -> dict[str, Any]:
    return next(row for row in report["operators"] if (row["name"], row["pass"]) == (name, pass_))


def slowed(report: dict[str, Any], part: str, factor: float) -> dict[str, Any]:
    """``report`` with the exchange or compute of the forward matrix product changed by ``factor``."""
    after = copy.deepcopy(report)
    row = row_of(after, "fc")
    more = int(row[f"{part}_cycles"] * (factor - 1))
    clock = after["time"]["total_cycles"] / after["time"]["total_seconds"]
    row[f"{part}_cycles"] += more
    row["seconds"] += more / clock
    after["step_seconds"] += more / clock
    after["time"]["total_cycles"] += more
    after["time"]["total_seconds"] += more / clock
    after["time"][f"{part}_seconds"] += more / clock
    after["samples_per_second"] = after["parallel"]["global_batch"] / after["step_seconds"]
    return after


def test_the_same_report_twice_is_no_change(before: dict[str, Any]) -> None:
    found = compare(before, copy.deepcopy(before))
    assert found["sentence"] == "The step takes the same time."
    assert found["step_change"] == 0
    assert found["causes"] == found["settings"] == found["memory"]["categories"] == []
    assert found["memory"]["tiles_fuller"] == 0


def test_one_operator_that_exchanges_more_is_named_with_its_ratio(before: dict[str, Any]) -> None:
    after = slowed(before, "exchange", 3.0)
    found = compare(before, after)
    assert found["step_change"] == pytest.approx(after["step_seconds"] / before["step_seconds"] - 1)
    assert found["throughput_change"] < 0
    assert [cause["operators"] for cause in found["causes"]] == [["fc"]]
    assert "`fc` (forward) exchanges 3.0 times as much" in found["sentence"]
    assert found["sentence"].startswith("+")
    cause = found["causes"][0]
    assert cause["seconds_after"] - cause["seconds_before"] == pytest.approx(
        after["step_seconds"] - before["step_seconds"]
    )


def test_back_again_is_shorter(before: dict[str, Any]) -> None:
    found = compare(slowed(before, "compute", 1.25), before)
    assert found["sentence"].startswith("-")
    assert "computes 20.0% shorter" in found["sentence"]


def test_operators_that_are_new_or_gone_are_said_to_be(before: dict[str, Any]) -> None:
    after = copy.deepcopy(before)
    row_of(after, "relu")["name"] = "gelu"
    texts = [cause.worded() for cause in causes(spending_of(before), spending_of(after))]
    assert any(text.startswith("`gelu` (forward) is new") for text in texts)
    assert any("`relu` (forward) needs no more arithmetic" in text for text in texts)


def test_layers_that_differ_in_a_number_alone_are_told_together(before: dict[str, Any]) -> None:
    after = copy.deepcopy(before)
    for report, factor in ((before, 1), (after, 2)):
        pattern = row_of(report, "relu")
        report["operators"] = [
            {**pattern, "name": f"layer{i}.relu", "compute_cycles": pattern["compute_cycles"] * factor}
            for i in range(3)
        ]
    (cause,) = causes(spending_of(before), spending_of(after))
    assert cause.names == ("layer0.relu", "layer1.relu", "layer2.relu")
    assert cause.worded().startswith("3 elementwise operators `layer*.relu` (forward) compute 2.0 times as long (+")


def test_a_larger_batch_tells_throughput_too_and_settings_are_listed() -> None:
    from simulator import RunConfig, simulate

    small, large = (simulate("zoo:mnist", RunConfig(batch=batch)) for batch in (4, 64))
    found = compare(small, large)
    assert "samples a second" in found["sentence"]
    assert found["settings"] == [{"name": "batch", "before": 4, "after": 64}]
    assert found["memory"]["tiles_fuller"] > 0
    assert "more" in found["memory"]["sentence"]
    assert sum(part["after"] - part["before"] for part in found["parts"]) == pytest.approx(
        large["step_seconds"] - small["step_seconds"]
    )
    text = worded(found)
    assert "batch: 4 -> 64" in text
    assert all(len(line) < 220 for line in text.splitlines())


def test_what_no_longer_fits_is_said(before: dict[str, Any]) -> None:
    after = {**copy.deepcopy(before), "fits": False}
    assert "DOES NOT FIT" in worded(compare(before, after))
    assert "It fits now" in worded(compare(after, before))


def test_what_changes_alike_everywhere_is_told_once(before: dict[str, Any]) -> None:
    after = copy.deepcopy(before)
    for row in after["operators"]:
        row["compute_cycles"] *= 2
    (cause,) = causes(spending_of(before), spending_of(after))
    assert cause.names == ()
    assert cause.worded().startswith("all operators compute 2.0 times as long (+")


@pytest.mark.parametrize(
    ("ratio", "said"), [(2.14, "2.1 times as long"), (0.5, "0.50 times as long"), (1.12, "12.0% longer")]
)
def test_ratios_in_words(ratio: float, said: str) -> None:
    assert times(ratio) == said
