"""Predictions beside published measurements: not a fit, only that the stated interval is honest."""

import csv
import os
from pathlib import Path

import pytest

from simulator import RunConfig, simulate

SHARED = Path(os.environ.get("PODIUM_SHARED", Path(__file__).parents[3] / "shared"))
RESNET = SHARED / "models" / "onnx-light-resnet50.onnx"
FIGURES = SHARED / "reference" / "published" / "calibrate.csv"
IMAGENET = 1_281_167
ROW = "mlperf-v1.1-graphcore-ipu-pod16-tf1-resnet-epoch"

pytestmark = pytest.mark.skipif(
    not (RESNET.is_file() and FIGURES.is_file()), reason=f"no models and published figures in {SHARED} (PODIUM_SHARED)"
)


def test_the_interval_of_resnet_50_training_on_a_pod16_holds_the_published_throughput() -> None:
    with FIGURES.open(encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if row["id"] == ROW)
    measured = IMAGENET / float(row["value"])
    config = RunConfig(
        batch=int(row["batch_micro"]), precision="fp16", partials="fp16", optimiser="momentum", system="pod16"
    )
    report = simulate(RESNET, config)
    low, high = report["intervals"]["samples_per_second"]
    assert low < measured < high
    assert report["samples_per_second"] == pytest.approx(measured, rel=0.35)
