"""A plan for a real model: it fits, it is what a report of the same settings says, and it is told as YAML and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from simulator import RunConfig, SimulatorError, simulate
from simulator.__main__ import main
from simulator.search.answer import Answer
from simulator.search.plan import plan

FP16 = {"precision": "fp16", "partials": "fp16"}


@pytest.fixture(scope="module")
def answer() -> Answer:
    return plan("zoo:mnist", RunConfig(system="pod4", optimiser="momentum", **FP16), global_batch=64)  # type: ignore[arg-type]


def test_the_plan_fits_and_is_what_the_report_says(answer: Answer) -> None:
    assert (answer.status, answer.verified) == ("found", True)
    told = answer.to_dict()
    report = simulate("zoo:mnist", RunConfig.from_dict(told["plan"]))
    assert report.fits
    assert report["step_seconds"] == pytest.approx(told["best"]["outcome"]["step_seconds"], rel=1e-12)
    assert report["samples_per_second"] == pytest.approx(told["best"]["outcome"]["samples_per_second"], rel=1e-12)
    assert report["parallel"]["global_batch"] == 64
    per_tile = report["memory"]
    assert per_tile["bytes_per_tile"] - per_tile["worst_tile"]["bytes"] == told["best"]["outcome"]["headroom_bytes"]


def test_no_candidate_that_fits_is_better_than_the_plan(answer: Answer) -> None:
    best = answer.best
    assert best is not None
    assert best.outcome is not None
    fitting = [t.outcome.seconds for t in answer.trials if t.outcome is not None and t.outcome.fits]
    assert len(fitting) > 10
    assert min(fitting) == best.outcome.seconds


def test_energy_and_price_of_a_plan_are_those_of_the_report(answer: Answer) -> None:
    told = answer.to_dict()
    report = simulate("zoo:mnist", RunConfig.from_dict(told["plan"]))
    outcome = told["best"]["outcome"]
    assert outcome["joules_per_sample"] == pytest.approx(report["costs"]["energy"]["joules_a_sample"], rel=1e-9)
    assert outcome["dollars_per_million_samples"] == pytest.approx(
        report["costs"]["price"]["usd_a_million_samples"], rel=1e-9
    )


def test_a_tile_too_small_for_the_model_is_told_apart_from_an_early_end() -> None:
    tiny = RunConfig(system="m2000", task="infer", machine={"tile.memory": 15_000}, **FP16)  # type: ignore[arg-type]
    fixed = frozenset({"stages", "batch"})
    found = plan("zoo:mnist", tiny, fixed=fixed)
    assert (found.status, found.best, found.verified) == ("infeasible", None, False)
    assert found.to_dict()["nearest"]["verdict"] == "does_not_fit"
    early = plan("zoo:mnist", tiny, fixed=fixed, cancelled=lambda: True)
    assert (early.status, early.ended) == ("not_found", "cancelled")


def test_a_cheapest_plan_may_use_a_part_of_the_system() -> None:
    config = RunConfig(system="pod16", **FP16)  # type: ignore[arg-type]
    fixed = frozenset({"stages", "available_memory_proportion"})
    cheapest = plan("zoo:mnist", config, goal="cheapest", global_batch=1024, fixed=fixed)
    fastest = plan("zoo:mnist", config, goal="fastest", global_batch=1024, fixed=fixed)
    assert cheapest.best is not None
    assert fastest.best is not None
    assert fastest.best.config.ipus == 16
    assert (cheapest.best.config.ipus or 16) < 16
    assert cheapest.best.outcome is not None
    assert fastest.best.outcome is not None
    assert (cheapest.best.outcome.price or 0) < (fastest.best.outcome.price or 0)
    assert fastest.best.outcome.seconds < cheapest.best.outcome.seconds


@pytest.mark.parametrize(
    ("settings", "options", "code"),
    [
        ({"system": "pod16"}, {"goal": "prettiest"}, "search.goal"),
        ({"system": "c600"}, {"goal": "cheapest"}, "search.no_price"),
        ({"system": "pod16", "batch": 4}, {"global_batch": 7, "fixed": frozenset({"batch"})}, "search.global_batch"),
        ({"system": "pod17"}, {}, "system.unknown"),
    ],
)
def test_what_cannot_be_searched_is_refused(settings: dict[str, object], options: dict[str, object], code: str) -> None:
    with pytest.raises(SimulatorError) as refused:
        plan("zoo:mnist", RunConfig.from_dict(settings), **options)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_a_refused_global_batch_names_one_that_would_do() -> None:
    with pytest.raises(SimulatorError) as refused:
        plan("zoo:mnist", RunConfig(system="pod16"), global_batch=7, fixed=frozenset({"ipus"}))
    assert 16 in refused.value.params["legal"]


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["plan", "zoo:mnist", "--quiet", *words])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_prints_yaml_that_simulate_reads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = _run(capsys, "--system", "pod4", "--stages", "1", "--global-batch", "32", "--precision", "fp16")
    assert status == 0
    told = yaml.safe_load(out)
    assert told["model"] == "zoo:mnist"
    assert "lost:" in out
    file = tmp_path / "plan.yaml"
    file.write_text(out)
    assert main(["--config", str(file), "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["parallel"]["global_batch"] == 32


def test_the_command_tells_everything_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = _run(capsys, "--system", "pod4", "--stages", "1", "--global-batch", "32", "--json")
    told = json.loads(out)
    assert (status, told["schema"], told["status"]) == (0, "podium.plan/1", "found")
    assert all(row["reason"] for row in told["candidates"])


def test_the_command_ends_with_a_status_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    small = ("--system", "pod4", "--machine", "tile.memory=15000", "--task", "infer", "--stages", "1", "--batch", "16")
    assert _run(capsys, *small)[0] == 3
    status, _, err = _run(capsys, "--system", "pod4", "--seconds", "0")
    assert (status, "config.invalid" in err) == (2, True)


def test_given_settings_that_change_nothing_are_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "run.yaml").write_text("seed: 4\n")
    words = ["plan", "zoo:mnist", "--system", "pod4", "--queue-depth", "4", "--batch", "8", "--quiet"]
    assert main([*words, "--config", str(tmp_path / "run.yaml"), "--global-batch", "32", "--json"]) == 0
    notes = {note["code"]: note["message"] for note in json.loads(capsys.readouterr().out)["notes"]}
    assert "queue_depth (batches queue in inference only)" in notes["config.without_effect"]
    assert "seed (of the numbers" in notes["config.of_numbers"]


@pytest.mark.parametrize("value", ["0", "-1", "nan"])
def test_a_search_without_time_is_refused(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "zoo:mnist", "--seconds", value, "--quiet"]) == 2
    assert f"--seconds cannot be {value}" in capsys.readouterr().err
