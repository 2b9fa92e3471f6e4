"""What would make a model fit: estimates that rank, and runs that tell what a remedy really saves and costs."""

from typing import Any

import pytest

from simulator import RunConfig, SimulatorError, simulate
from simulator.laying import lay
from simulator.pipeline import graph_of, open_model, parts_of
from simulator.report.build import Report
from simulator.report.parts import Parts
from simulator.report.remedies import remedies
from simulator.report.trying import tried
from tests.simulator.report.made import too_small


def parts(**settings: Any) -> Parts:
    config = RunConfig(**settings)
    program, _ = open_model("zoo:mnist", config)
    return parts_of(program, lay(graph_of(program, config), config), config)


def codes(**settings: Any) -> list[str]:
    return [remedy.code for remedy in remedies(parts(**settings))]


LARGE: dict[str, Any] = {"system": "pod16", "batch": 8192}


def test_remedies_suit_the_run() -> None:
    plain = codes(**LARGE)
    assert plain[0] == "memory.smaller_batch"
    assert {"memory.half", "memory.checkpoints", "memory.stages"} <= set(plain)
    assert not {"memory.recompute", "memory.interleaved", "memory.shard", "memory.half_partials"} & set(plain)
    assert "memory.half" not in codes(**LARGE, precision="fp16")
    assert "memory.checkpoints" not in codes(**LARGE, task="infer")
    assert "memory.stages" not in codes(system="m2000", ipus=1, batch=8192)
    assert {"memory.recompute", "memory.interleaved"} <= set(codes(**LARGE, stages=2, accumulation=64))


def test_state_of_the_optimiser_can_go_elsewhere() -> None:
    found = codes(optimiser="adam", machine={"tile.memory": 24_000}, batch=1)
    assert "memory.smaller_batch" not in found
    small = {remedy.code: remedy for remedy in remedies(parts(optimiser="adam", machine={"tile.memory": 24_000}))}
    for code in ("memory.optimiser", "memory.shard", "memory.offload"):
        if code in small:
            assert small[code].saves > 0


def test_there_is_always_something_to_say() -> None:
    found = remedies(too_small())
    assert found
    assert all(remedy.text for remedy in found)


@pytest.fixture(scope="module")
def report() -> Report:
    return simulate("zoo:mnist", RunConfig(**LARGE))


def test_the_best_three_are_simulated_and_what_fits_comes_first(report: Report) -> None:
    advice = report["memory"]["overflow"]["remedies"]
    simulated = [remedy["simulated"] for remedy in advice if "simulated" in remedy]
    assert 1 <= len(simulated) <= 3
    assert simulated == [remedy["simulated"] for remedy in advice[: len(simulated)]]
    assert simulated[0]["fits"]
    fitting = [each["throughput_lost"] for each in simulated if each["fits"]]
    assert fitting == sorted(fitting)
    assert all(each["bytes_saved"] > 0 for each in simulated)


def test_what_is_promised_is_what_happens(report: Report) -> None:
    for remedy in report["memory"]["overflow"]["remedies"]:
        if "simulated" not in remedy:
            continue
        changed = simulate("zoo:mnist", RunConfig.from_dict({**report["config"], **remedy["changes"]}))
        assert changed["fits"] == remedy["simulated"]["fits"]
        assert changed["step_seconds"] == remedy["simulated"]["step_seconds"]
        before, after = (r["memory"]["worst_tile"]["bytes"] for r in (report, changed))
        assert before - after == remedy["simulated"]["bytes_saved"]
        lost = 1 - changed["samples_per_second"] / report["samples_per_second"]
        assert lost == pytest.approx(remedy["simulated"]["throughput_lost"])


def test_a_batch_that_is_still_too_large_is_lowered_further() -> None:
    before, asked = parts(**LARGE), []

    def again(config: RunConfig) -> Parts:
        if config.batch == LARGE["batch"]:
            return before
        asked.append(config.batch)
        return parts(**{**LARGE, "batch": min(config.batch, 64)}) if len(asked) > 2 else before

    first = tried(before, again)[0]
    assert asked[:3] == sorted(asked[:3], reverse=True)
    assert len(set(asked[:3])) == 3
    assert first["batch"] == asked[2]
    assert str(asked[2]) in first["text"]


def test_what_cannot_be_simulated_or_saves_nothing_is_left_out() -> None:
    before = parts(**LARGE)

    def refused(config: RunConfig) -> Parts:
        raise SimulatorError("parallel.illegal", "No.")

    assert not any("simulated" in remedy for remedy in tried(before, refused))
    assert not any("simulated" in remedy for remedy in tried(before, lambda config: before))
    assert tried(before, refused)[0]["code"] != "memory.smaller_batch"
