"""Whole simulations of a real model: repeatable, quick, sensitive to every setting, never rising where it must fall."""

from typing import Any

import pytest

from simulator import RunConfig, SimulatorError, simulate
from simulator.report.build import Report

PHASES = ["load", "trace", "parallelise", "plan", "schedule", "allocate", "report"]


def mnist(**settings: Any) -> Report:
    return simulate("zoo:mnist", RunConfig(**settings))


@pytest.fixture(scope="module")
def base() -> Report:
    return mnist()


def test_phases_come_in_order(base: Report) -> None:
    told: list[tuple[str, float]] = []
    simulate("zoo:mnist", RunConfig(), on_progress=lambda phase, fraction: told.append((phase, fraction)))
    assert list(dict.fromkeys(phase for phase, _ in told)) == PHASES
    assert all(0 <= fraction <= 1 for _, fraction in told)
    assert told[-1] == ("report", 1.0)


def test_a_report_is_the_same_on_every_run(base: Report) -> None:
    again = mnist()
    assert {k: v for k, v in again.items() if k != "simulation"} == {k: v for k, v in base.items() if k != "simulation"}


def test_it_says_what_it_simulated(base: Report) -> None:
    assert base["model"]["parameters"] == 225_034
    assert len(base["model"]["sha256"]) == 64
    assert base["config"] == RunConfig().to_dict()
    assert base["parallel"]["replicas"] == 4
    assert base["coverage"]["share_of_time_modelled"] == 1.0
    assert base["fits"]


HEADLINE = ("step_seconds", "samples_per_second")


@pytest.mark.parametrize(
    "change",
    [
        {"task": "infer"},
        {"batch": 32},
        {"optimiser": "momentum"},
        {"optimiser": "adam"},
        {"precision": "fp16"},
        {"precision": "fp16", "partials": "fp16"},
        {"system": "pod16"},
        {"ipus": 2},
    ],
    ids=str,
)
def test_every_setting_of_the_machine_changes_time_and_memory(base: Report, change: dict[str, Any]) -> None:
    found = mnist(**change)
    assert found["step_seconds"] != base["step_seconds"]
    if not {"system", "ipus"} & set(change):
        assert found["memory"]["total_bytes"] != base["memory"]["total_bytes"]


@pytest.mark.parametrize("change", [{"seed": 3}, {"learning_rate": 0.5}, {"steps": 7}, {"dataset": "digits"}], ids=str)
def test_settings_of_the_numbers_change_no_time(base: Report, change: dict[str, Any]) -> None:
    assert mnist(**change)["step_seconds"] == base["step_seconds"]


def test_half_partials_change_time_only_in_half() -> None:
    assert mnist(precision="fp16", partials="fp16")["step_seconds"] < mnist(precision="fp16")["step_seconds"]
    assert mnist(partials="fp16")["step_seconds"] == mnist()["step_seconds"]


def test_a_tight_memory_proportion_takes_less_memory_and_more_time() -> None:
    roomy, tight = (mnist(batch=512, available_memory_proportion=share) for share in (0.6, 0.03))
    assert tight["memory"]["worst_tile"]["bytes"] < roomy["memory"]["worst_tile"]["bytes"]
    assert tight["step_seconds"] >= roomy["step_seconds"]


def test_time_and_memory_rise_with_the_batch() -> None:
    found = [mnist(batch=batch) for batch in (4, 16, 64, 256)]
    for figure in (lambda r: r["step_seconds"], lambda r: r["memory"]["totals"]["activations"]):
        values = [figure(report) for report in found]
        assert values == sorted(values)


def test_throughput_rises_with_the_slice_and_efficiency_falls() -> None:
    # sums over replicas of so small a model would take longer than its steps, were they not rare
    found = [mnist(system="pod256", ipus=ipus, accumulation=16) for ipus in (1, 4, 16, 64, 256)]
    rates = [report["samples_per_second"] for report in found]
    each = [report["samples_per_second"] / report["parallel"]["ipus"] for report in found]
    assert rates == sorted(rates)
    assert each == sorted(each, reverse=True)


def test_a_batch_that_does_not_fit_is_told_with_a_batch_that_does() -> None:
    found = mnist(batch=8192, ipus=1)
    assert not found["fits"]
    overflow = found["memory"]["overflow"]
    assert overflow["over_by"] > 0
    assert overflow["tensors"]
    advised = next(remedy["batch"] for remedy in overflow["remedies"] if "batch" in remedy)
    assert mnist(batch=max(1, advised // 2), ipus=1)["fits"]


def test_an_unknown_model_and_system_are_refused() -> None:
    with pytest.raises(SimulatorError) as unknown:
        simulate("zoo:nothing", RunConfig())
    assert unknown.value.exit_code == 2
    with pytest.raises(SimulatorError) as nowhere:
        mnist(system="pod17")
    assert nowhere.value.code == "system.unknown"
