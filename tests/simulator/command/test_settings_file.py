"""Files of settings: YAML and JSON alike, and every fault with its line."""

import os
from pathlib import Path

import pytest

from simulator import SimulatorError
from simulator.command.settings_file import MOST_BYTES, read_settings

LEGAL = ("model", "batch", "precision", "dims")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.yaml", "# a run\nbatch: 8\n\nmodel: zoo:mnist\ndims: {width: 3}\n"),
        ("run.json", '{\n "batch": 8,\n\n "model": "zoo:mnist",\n "dims": {"width": 3}}'),
    ],
)
def test_values_and_their_lines(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = read_settings(path, LEGAL)
    assert found.values == {"batch": 8, "model": "zoo:mnist", "dims": {"width": 3}}
    assert found.lines == {"batch": 2, "model": 4, "dims": 5}


def test_an_empty_file_sets_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("# nothing\n")
    assert not read_settings(path, LEGAL).values


@pytest.mark.parametrize(
    ("name", "text", "line", "said"),
    [
        ("a.yaml", "batch: 8\nprecison: fp16\n", 2, "Did you mean 'precision'?"),
        ("a.json", '{"batch": 8,\n "precison": "fp16"}', 2, "Did you mean 'precision'?"),
        ("a.yaml", "batch: 8\nzzz: 1\n", 2, "Use one of model, batch"),
        ("a.yaml", "batch: 8\nbatch: 9\n", 2, "there twice"),
        ("a.json", '{"batch": 8,\n "batch": 9}', 1, "there twice"),
        ("a.yaml", "batch: 8\n  precision: [\n", 2, "not YAML"),
        ("a.json", '{"batch": 8,\n "precision"}', 2, "not JSON"),
        ("a.yaml", "- batch\n", 1, "NAME: VALUE"),
        ("a.json", "[1]", 1, "an object of settings"),
        ("a.yaml", "7: 8\n", 1, "a plain word"),
        ("a.yaml", "batch: &a 8\nprecision: *a\n", None, "alias"),
        ("a.yaml", "a: " + "[" * 5000, None, "cannot be read|can be read"),
        ("a.json", "[" * 100_000, None, "can be read"),
        ("a.yaml", "!!python/object/apply:os.system ['true']\n", None, "not YAML|NAME: VALUE"),
        ("a.yaml", "x" * (MOST_BYTES + 1), None, "larger than"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, name: str, text: str, line: int | None, said: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(SimulatorError) as stopped:
        read_settings(path, LEGAL)
    assert stopped.value.code == "config.file"
    assert any(part in stopped.value.message for part in said.split("|"))
    if line is not None:
        assert stopped.value.params["line"] == line
        assert f"line {line}" in stopped.value.message


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SimulatorError, match="UTF-8"):
        read_settings(path, LEGAL)
    with pytest.raises(SimulatorError, match="directory"):
        read_settings(tmp_path, LEGAL)


def test_a_number_may_have_an_exponent_and_no_point(tmp_path: Path) -> None:
    path = tmp_path / "variant.yaml"
    path.write_text("chip.clock: 2e9\ntile.memory: 1E+6\nname: 2e9x\n")
    assert read_settings(path, None).values == {"chip.clock": 2e9, "tile.memory": 1e6, "name": "2e9x"}


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(SimulatorError, match="not a file"):
        read_settings(pipe, None)
