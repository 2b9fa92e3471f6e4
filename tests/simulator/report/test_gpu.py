"""The comparator in a report: the same work, its own interval, its price with electricity."""

from pathlib import Path

import pytest

from simulator import RunConfig, simulate
from tests.simulator.onnx_models import model, node, value


def test_a_report_has_the_gpu_beside_it() -> None:
    stated = {"precision": "given", "partials": "given"}
    report = simulate("zoo:mnist", RunConfig(system="pod16", batch=64, framework="popart"), origins=stated)
    other = report["comparator"]
    low, high = other["intervals"]["samples_per_second"]
    assert low < other["samples_per_second"] < high
    assert other["ratio"] == pytest.approx(report["samples_per_second"] / other["samples_per_second"])
    slow, fast = report["intervals"]["samples_per_second"]
    assert high / low > fast / slow
    assert other["gpus"] == 8
    hardware = other["usd_per_million_samples"] - other["joules_per_million_samples"] / 3.6e6 * 0.15
    assert 0 < hardware < other["usd_per_million_samples"]


def test_a_model_without_work_has_none(tmp_path: Path) -> None:
    path = tmp_path / "identity.onnx"
    path.write_bytes(model([node("Identity", ["x"], ["y"])], [value("x", [1])], [value("y", [1])]))
    report = simulate(path, RunConfig(task="infer"))
    assert report["comparator"] is None
    assert report["step_seconds"] > 0
