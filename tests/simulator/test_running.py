"""A whole run as its listener sees it: phases in order, metrics with the simulated clock, refusals after the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator import RunConfig, SimulatorError, run
from tests.simulator.onnx_models import model, node, value

PHASES = ["load", "trace", "parallelise", "plan", "schedule", "allocate", "report", "execute"]


class Listener:
    """Keeps every event in order."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, kind: str, data: dict[str, Any]) -> None:
        json.dumps(data, allow_nan=False)
        self.events.append((kind, data))

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [data for found, data in self.events if found == kind]


def test_training_is_told_from_first_to_last_step(tmp_path: Path) -> None:
    heard = Listener()
    config = RunConfig(steps=7, dataset="digits", ipus=2, system="pod4", learning_rate=0.1)
    result = run("zoo:mnist", config, on_event=heard)
    assert list(dict.fromkeys(data["phase"] for data in heard.of("phase"))) == PHASES
    metrics = heard.of("metric")
    assert (metrics[0]["step"], metrics[-1]["step"]) == (1, 7)
    report = heard.of("report")[0]
    for metric in metrics:
        assert metric["simulated_seconds"] == pytest.approx(metric["step"] * report["step_seconds"])
        assert metric["samples_per_second"] == report["samples_per_second"]
    assert heard.of("progress")[-1] == {"done": 7, "total": 7}
    summary = result.to_dict()
    json.dumps(summary, allow_nan=False)
    assert summary["samples"] == 7 * 2 * 16
    assert summary["final_loss"] == metrics[-1]["loss"]
    (written,) = result.save(tmp_path)
    with np.load(written) as saved:
        assert saved["conv1.weight"].shape == (32, 1, 3, 3)


def test_inference_keeps_the_first_batch_under_safe_names(tmp_path: Path) -> None:
    data = model([node("Relu", ["x"], ["../../y"])], [value("x", ["N", 4])], [value("../../y", ["N", 4])])
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    heard = Listener()
    result = run(path, RunConfig(task="infer", batch=3, steps=2), on_event=heard)
    assert all("loss" not in metric for metric in heard.of("metric"))
    assert result.to_dict()["outputs_summary"][0]["shape"] == [3, 4]
    (written,) = result.save(tmp_path)
    with np.load(written) as saved:
        assert [name for name in saved if "/" in name or name.startswith(".")] == []
        assert len(saved.files) == 1


def test_a_run_that_is_stopped_still_has_a_result() -> None:
    heard = Listener()
    asked = iter([False, False, True])
    config = RunConfig(steps=50, dataset="digits", ipus=1)
    result = run("zoo:mnist", config, on_event=heard, should_stop=lambda: next(asked))
    assert result.stopped
    assert result.to_dict()["steps"] == 2
    assert heard.of("metric")[-1]["step"] == 2


def test_a_loss_that_leaves_the_numbers_is_told_and_null(tmp_path: Path) -> None:
    weights = {"w": np.ones((4, 1), np.float32)}
    path = tmp_path / "line.onnx"
    path.write_bytes(
        model([node("MatMul", ["x", "w"], ["y"])], [value("x", ["N", 4])], [value("y", ["N", 1])], weights)
    )
    heard = Listener()
    result = run(path, RunConfig(steps=30, ipus=1, learning_rate=1000.0), on_event=heard)
    assert result.to_dict()["final_loss"] is None
    assert any("not finite" in log["message"] for log in heard.of("log"))


def test_what_does_not_fit_is_reported_and_then_refused(tmp_path: Path) -> None:
    weights = {"shape": np.array([20_000, 20_000], np.int64)}
    nodes = [node("ConstantOfShape", ["shape"], ["w"]), node("MatMul", ["x", "w"], ["y"])]
    path = tmp_path / "wide.onnx"
    path.write_bytes(model(nodes, [value("x", ["N", 20_000])], [value("y", ["N", 20_000])], weights))
    heard = Listener()
    with pytest.raises(SimulatorError) as caught:
        run(path, RunConfig(task="infer", batch=1, steps=1), on_event=heard)
    assert caught.value.code == "memory.does_not_fit"
    assert caught.value.exit_code == 3
    assert caught.value.params["over_by"] > 0
    assert heard.of("report")[0]["fits"] is False
    assert heard.of("metric") == []
