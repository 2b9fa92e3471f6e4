"""Scenarios, the search under a bound, and the command line: the same every time, and refused clearly."""

import json
from pathlib import Path
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.errors import SimulatorError
from simulator.serving.capacity import highest_rate
from simulator.serving.scenarios import Load, run
from simulator.serving.service import Service, service_of

SERVICE = Service(batch=4, interval=0.004, latency=0.006, depth=2)


def test_single_stream_takes_the_latency_of_one_each_time() -> None:
    found = run(Load("single-stream", queries=50), SERVICE)
    assert found.figures.latency["max"] == pytest.approx(0.006)
    assert found.figures.throughput == pytest.approx(1 / 0.006)
    assert found.figures.fill == 0.25
    assert found.figures.in_flight_most == 1
    assert found.figures.queue_most == 0


def test_multi_stream_answers_a_query_with_its_last_batch() -> None:
    found = run(Load("multi-stream", queries=20, samples_per_query=8), SERVICE)
    assert found.figures.latency["p99"] == pytest.approx(0.004 + 0.006), "the second batch enters an interval later"
    assert found.figures.throughput == pytest.approx(8 / 0.010)


def test_offline_reaches_the_peak() -> None:
    found = run(Load("offline", queries=100_000), SERVICE)
    assert found.figures.throughput == pytest.approx(SERVICE.peak, rel=1e-3)
    assert found.figures.fill == 1.0


def test_the_server_is_the_same_every_time_and_another_with_another_seed() -> None:
    load = Load("server", queries=5000, qps=600.0)
    assert run(load, SERVICE).to_dict() == run(load, SERVICE).to_dict()
    other = Load("server", queries=5000, qps=600.0, seed=1)
    assert run(load, SERVICE).figures.latency != run(other, SERVICE).figures.latency


def test_the_highest_rate_holds_and_a_little_more_does_not() -> None:
    load = Load("server", queries=5000, qps=1.0, bound=0.02)
    found = highest_rate(load, SERVICE)
    assert found.met
    assert found.bounded <= 0.02
    assert 0.5 * SERVICE.peak < found.load.qps < SERVICE.peak
    assert highest_rate(Load("server", 200, 1.0, 10.0), SERVICE).load.qps == SERVICE.peak
    assert not run(Load("server", queries=5000, qps=found.load.qps * 1.01, bound=0.02), SERVICE).met


def test_a_longer_bound_allows_a_higher_rate() -> None:
    rates = [highest_rate(Load("server", 4000, 1.0, bound), SERVICE).load.qps for bound in (0.008, 0.012, 0.03)]
    assert rates == sorted(rates)
    assert rates[0] < rates[2]


def test_a_bound_below_one_request_is_refused() -> None:
    with pytest.raises(SimulatorError, match="alone already takes") as refusal:
        highest_rate(Load("server", 100, 1.0, 0.001), SERVICE)
    assert refusal.value.code == "serving.bound_impossible"


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"scenario": "burst"}, "scenario"),
        ({"scenario": "server"}, "qps"),
        ({"scenario": "offline", "queries": 0}, "queries"),
        ({"scenario": "offline", "percent": 0.0}, "percentile"),
        ({"scenario": "offline", "bound": float("nan")}, "bound"),
        ({"scenario": "server", "qps": 1.0, "seed": -1}, "arrival_seed"),
    ],
)
def test_a_load_that_means_nothing_is_refused(values: dict[str, Any], field: str) -> None:
    with pytest.raises(SimulatorError) as refusal:
        Load(**values)
    assert refusal.value.code == "serving.invalid"
    assert refusal.value.params["field"] == field


def report(**changes: Any) -> dict[str, Any]:
    return {
        "config": {"task": "infer", "batch": 8, "queue_depth": None, "framework": "podium"},
        "parallel": {"replicas": 2},
        "samples_per_second": 1000.0,
        "latency": {"seconds": 0.02},
        **changes,
    }


def test_a_report_describes_a_service() -> None:
    service = service_of(report())
    assert service == Service(batch=8, interval=0.016, latency=0.02, depth=1, replicas=2)
    assert service_of(report(), queue_depth=3).peak == pytest.approx(1000.0)


def test_a_framework_keeps_batches_in_flight_unless_the_run_says_how_many() -> None:
    settings = {"task": "infer", "batch": 8, "queue_depth": None, "framework": "poprt"}
    assert service_of(report(config=settings)).depth == 5
    assert service_of(report(config={**settings, "queue_depth": 2})).depth == 2


def test_training_cannot_be_put_under_load() -> None:
    with pytest.raises(SimulatorError) as refusal:
        service_of(
            report(latency=None, config={"task": "train", "batch": 8, "queue_depth": None, "framework": "podium"})
        )
    assert refusal.value.code == "serving.not_inference"


def test_the_command_line_serves(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["serve", "zoo:mnist", "--scenario", "server", "--latency-bound", "0.01", "--ipus", "1", "--batch", "4"]
    assert main([*words, "--queries", "500", "--quiet", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["serving"]
    assert found["bound"]["met"]
    assert found["qps"] > 0
    assert main([*words, "--queries", "20000", "--quiet", "--qps", "1e9"]) == 1
    shown = capsys.readouterr().out
    assert "does not hold" in shown
    assert "1 replica of 1 IPU, batches of up to 4 samples" in shown
    assert "Settings given: batch, ipus;" in shown


def test_a_built_in_model_is_served_as_its_published_inference_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "zoo:deberta-base", "--queries", "100", "--dim", "sequence=32", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "service: c600, 1 replica of 1 IPU, batches of up to 10 samples" in shown
    assert "Settings of the published run: " in shown


def test_the_command_line_refuses_a_server_without_a_rate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "zoo:mnist", "--scenario", "server"]) == 2
    told = capsys.readouterr().err
    assert "serving.invalid" in told
    assert "--latency-bound" in told


def test_what_a_load_does_not_listen_to_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["serve", "zoo:mnist", "--ipus", "1", "--queries", "50", "--quiet", "--optimiser", "adam"]
    assert main([*words, "--qps", "100", "--samples-per-query", "3", "--percentile", "50", "--json"]) == 0
    notes = {note["code"]: note["message"] for note in json.loads(capsys.readouterr().out)["notes"]}
    assert [name for name in ("qps", "samples_per_query", "percentile") if name in notes["serving.without_effect"]]
    assert "patience" not in notes["serving.without_effect"]
    assert "optimiser (inference" in notes["config.without_effect"]
    assert main([*words, "--scenario", "multi-stream", "--samples-per-query", "3"]) == 0
    assert "serving.without_effect" not in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--qps", "--latency-bound"])
@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_no_rate_and_no_bound_are_refused(option: str, value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "zoo:mnist", "--scenario", "server", "--qps", "9", option, value, "--quiet"]) == 2
    assert f"{option} cannot be {value}" in capsys.readouterr().err


def test_a_service_that_does_not_fit_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "zoo:mnist", "--batch", "30000", "--queries", "10", "--quiet"]) == 3
    shown = capsys.readouterr().out
    assert "at most, if it fitted" in shown
    assert "DOES NOT FIT" in shown
    assert "To make it fit:" in shown


def test_training_in_a_file_of_settings_is_not_turned_into_inference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.yaml").write_text("model: zoo:mnist\ntask: train\n")
    assert main(["serve", "--config", str(tmp_path / "run.yaml"), "--quiet"]) == 2
    assert "serving.not_inference" in capsys.readouterr().err
