"""The list of built-in models on the command line, and a published run that can be run from what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.__main__ import main
from simulator.command.settings_file import read_settings
from simulator.config import RunConfig
from simulator.zoo.catalogue import ZOO, find


def test_every_model_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    said = capsys.readouterr().out
    assert all(model.id in said for model in ZOO)
    assert "336,226,108" in said
    assert "mask_tokens" in said


def test_as_json_it_has_options_and_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "bert-large", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["options"]["vocab"] == 30522
    assert found["run"]["config"]["batch"] == 8


def test_the_run_of_a_model_can_be_used_as_a_file_of_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "efficientnet-b4"]) == 0
    file = tmp_path / "run.yaml"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    values = dict(read_settings(file, None).values)
    assert values.pop("model") == "zoo:efficientnet-b4"
    assert RunConfig.from_dict(values) == RunConfig.from_dict(find("efficientnet-b4").run.config)


def test_an_unknown_model_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "nothing"]) == 2
    assert "zoo:mnist" in capsys.readouterr().err
