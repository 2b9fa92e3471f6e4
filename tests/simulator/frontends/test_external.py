"""Data in files beside the model: read where it is plain, refused where it leaves the folder or does not fit."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load, read
from simulator.numerics.placing import placed_weights
from tests.simulator.onnx_models import perceptron


def _split(folder: Path, location: str = "weights.bin") -> Path:
    """The perceptron with every weight in one other file."""
    model = onnx.load_from_string(perceptron())
    path = folder / "model.onnx"
    (folder / location).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path), save_as_external_data=True, location=location, size_threshold=0)
    return path


def _changed(path: Path, **entries: str) -> Path:
    """The first tensor's place changed."""
    model = onnx.load(str(path), load_external_data=False)
    tensor = model.graph.initializer[0]
    for entry in tensor.external_data:
        entry.value = entries.get(entry.key, entry.value)
    path.write_bytes(model.SerializeToString())
    return path


def _refusal(path: Path) -> str:
    with pytest.raises(SimulatorError) as caught:
        load(path, name="m", batch=2)
    assert caught.value.owner == "user"
    return caught.value.code


@pytest.mark.parametrize("location", ["weights.bin", "data/weights.bin"])
def test_weights_are_read_from_beside_the_model(tmp_path: Path, location: str) -> None:
    found = load(_split(tmp_path, location), name="m", batch=2)
    whole = load(perceptron(), name="m", batch=2)
    assert found.weights == whole.weights
    for name, weight in placed_weights(whole, "fp32").items():
        np.testing.assert_array_equal(found.load_weights()[name], weight)


def test_costing_reads_no_weight(tmp_path: Path) -> None:
    """A file with a hole of the right size is enough to know the shapes."""
    path = _split(tmp_path)
    size = (tmp_path / "weights.bin").stat().st_size
    (tmp_path / "weights.bin").write_bytes(b"")
    os.truncate(tmp_path / "weights.bin", size)
    assert load(path, name="m", batch=2).outputs[0].shape == (2, 4)


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("../weights.bin", "model.external_data_unsafe"),
        ("data/../../weights.bin", "model.external_data_unsafe"),
        ("/etc/passwd", "model.external_data_unsafe"),
        ("C:weights.bin", "model.external_data_unsafe"),
        ("..\\weights.bin", "model.external_data_unsafe"),
        ("https://example.org/w", "model.external_data_unsafe"),
        ("weights.bin\0", "model.external_data_unsafe"),
        ("", "model.external_data_unsafe"),
        (".", "model.external_data_unsafe"),
        ("model.onnx", "model.external_data_unsafe"),
        ("./model.onnx", "model.external_data_unsafe"),
        ("other.bin", "model.external_data_missing"),
        ("x" * 2000, "model.external_data_unsafe"),
        ("x" * 600, "model.external_data_missing"),
    ],
)
def test_places_outside_of_the_folder_are_refused(tmp_path: Path, location: str, code: str) -> None:
    assert _refusal(_changed(_split(tmp_path), location=location)) == code


@pytest.mark.parametrize("made", ["link", "linked folder", "pipe", "folder", "hard link to the model"])
def test_only_regular_files_are_opened(tmp_path: Path, made: str) -> None:
    path = _split(tmp_path)
    real, there = tmp_path / "weights.bin", tmp_path / "there"
    location = "there"
    if made == "link":
        there.symlink_to(real)
    elif made == "linked folder":
        there.symlink_to(tmp_path)
        location = "there/weights.bin"
    elif made == "pipe":
        os.mkfifo(there)
    elif made == "folder":
        there.mkdir()
    else:
        os.link(path, there)
        location = "there"
    changed = _changed(path, location=location)
    assert _refusal(changed) == "model.external_data_unsafe"


@pytest.mark.parametrize(
    "entries",
    [
        {"length": "-4"},
        {"offset": "-1"},
        {"offset": "1e3"},
        {"length": "8"},
        {"offset": "99999999"},
        {"offset": "9" * 30},
    ],
)
def test_places_inside_of_the_file_must_fit(tmp_path: Path, entries: dict[str, str]) -> None:
    assert _refusal(_changed(_split(tmp_path), **entries)) == "model.bad_tensor"


def test_a_model_without_a_folder_has_no_data_beside_it(tmp_path: Path) -> None:
    """Bytes, and paths of open files such as those that a confined process is given."""
    path = _split(tmp_path)
    link = tmp_path / "open"
    link.symlink_to(path)
    for source in (path.read_bytes(), link):
        with pytest.raises(SimulatorError) as caught:
            read(source)
        assert caught.value.code == "model.external_data_missing"
