"""What nobody gave of a built-in model comes from its published run, as far as it goes with what was given."""

import json
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.command.options import Parser, Settings, add_settings, settings_of
from simulator.command.published import published
from simulator.zoo.catalogue import find


def settings(*words: str) -> Settings:
    parser = Parser(prog="test")
    parser.add_argument("model", nargs="?")
    add_settings(parser)
    return settings_of(parser.parse_args(list(words)), as_published=True)


def test_the_published_run_fills_in_what_nobody_gave() -> None:
    run = find("resnet50").run.config
    found = settings("zoo:resnet50", "--system", "pod64", "--batch", "4")
    assert (found.config.system, found.config.batch) == ("pod64", 4)
    assert found.config.accumulation == run["accumulation"] != 1
    assert found.config.checkpoints == tuple(run["checkpoints"])
    assert found.given == {"system", "batch"}
    assert found.published == set(run) - {"system", "batch"}
    assert (found.origins["batch"], found.origins["accumulation"]) == ("given", "published")
    assert "seed" not in found.origins


@pytest.mark.parametrize(
    ("model", "given"), [("model.onnx", {}), ("zoo:nothing", {}), (None, {}), ("zoo:resnet50", {"task": "infer"})]
)
def test_other_models_and_tasks_have_none(model: Any, given: dict[str, Any]) -> None:
    assert published(model, given) == {}


@pytest.mark.parametrize(
    ("given", "gone", "kept"),
    [
        ({"system": "pod64"}, {"system", "replicas"}, {"splits", "stage_proportions"}),
        ({"stages": 4}, {"splits", "stage_proportions", "replicas"}, {"system", "recompute"}),
        ({"recompute": "none"}, {"recompute", "checkpoints"}, {"splits"}),
        ({"available_memory_proportion": 0.3}, {"stage_proportions"}, {"splits"}),
        ({"precision": "fp32"}, {"precision", "partials"}, {"optimiser"}),
    ],
)
def test_what_is_given_decides_about_what_belongs_to_it(given: dict[str, Any], gone: set[str], kept: set[str]) -> None:
    whole = set(published("zoo:bert-large-squad", {}))
    assert gone | kept <= whole
    found = set(published("zoo:bert-large-squad", given))
    assert not gone & found
    assert kept <= found


def test_dimensions_are_merged() -> None:
    usual = find("efficientnet-b4").run.config["dims"]
    found = settings("zoo:efficientnet-b4", "--dim", "size=224")
    assert found.config.dims == {**usual, "size": 224}


def test_the_report_and_its_text_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo:mnist", "--batch", "8", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "Settings given: batch;" in said
    assert "Settings of the published run: task train, optimiser momentum" in said
    assert main(["zoo:mnist", "--batch", "8", "--quiet", "--json"]) == 0
    origins = json.loads(capsys.readouterr().out)["config_origins"]
    assert (origins["batch"], origins["optimiser"], origins["accumulation"]) == ("given", "published", "assumed")


def test_what_is_given_as_it_was_published_changes_nothing() -> None:
    usual = settings("zoo:resnet50").config
    assert usual.partials == "fp16"
    assert settings("zoo:resnet50", "--precision", usual.precision).config == usual
