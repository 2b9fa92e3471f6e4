"""What a loader costs follows from the loader that a row names, and from its words alone."""

from dataclasses import replace

import pytest

from simulator.datafiles import read_data
from simulator.machines.facts import CONFIDENCES
from simulator.validation.cases import case_of
from simulator.validation.figures import Subject
from simulator.validation.loaders import Loader, loader_of

RECORD, HANDED = 50.0e-6, 3.0e-6


def test_no_name_is_no_loader() -> None:
    assert loader_of("", "SchNet QM9 padded") == Loader(0.0, {})


@pytest.mark.parametrize(
    ("words", "one_by_one"),
    [
        ("SchNet QM9 padded", True),
        ("SchNet HydroNet small packed sync", True),
        ("SchNet HydroNet 500k ablation +async loader", True),
        ("SchNet HydroNet 500k ablation +device optimisations", False),
        ("SchNet QM9 packed (real data, async loader)", False),
    ],
)
def test_gradients_are_merged_from_the_optimisations_of_the_device_on(words: str, one_by_one: bool) -> None:
    found = loader_of("graphs", words)
    assert found.record_seconds == RECORD
    assert found.machine["host.sample"] == HANDED
    assert found.machine.get("collectives.gradients_of_sum", 0) == one_by_one


def test_an_epoch_waits_for_no_records_that_are_ready() -> None:
    assert loader_of("graphs-ready", "").record_seconds == 0
    assert loader_of("graphs-ready", "").machine == {"host.sample": HANDED}


def test_every_number_has_a_unit_a_confidence_and_a_source() -> None:
    for entry in read_data("simulator.validation", "loaders.yaml").values():
        for number in (entry["record"], entry["handed"]):
            assert number["unit"] == "s"
            assert number["confidence"] in CONFIDENCES
            assert number["source"]


def test_what_a_loader_costs_is_assumed_and_widens_the_interval() -> None:
    row = Subject(
        model="SchNet QM9 padded", system="Bow Pod64 (8 IPU used)", chips="8", task="train",
        framework="PyTorch PopTorch", precision="fp32", metric="throughput",
    )  # fmt: skip
    made = replace(row, model="SchNet QM9 synthetic")
    assert "machine" in case_of(row, []).assumed
    assert "machine" not in case_of(made, []).assumed  # data made on the device needs no loader
