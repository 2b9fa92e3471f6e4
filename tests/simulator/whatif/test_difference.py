"""Differences in words, and the command that prints them."""

import json
from typing import Any

import pytest

from simulator import RunConfig
from simulator.__main__ import main
from simulator.whatif.difference import worded
from simulator.whatif.session import Session


@pytest.fixture(scope="module")
def session() -> Session:
    return Session("zoo:mnist", RunConfig(system="pod16", batch=8))


def test_a_faster_clock_shortens_the_work_of_all_operators_alike(session: Session) -> None:
    found = session.what_if({"machine": {"chip.clock": 2 * 1.325e9}})
    assert found["step_change"] < 0
    assert any("all operators compute 0.50 times as long" in cause["text"] for cause in found["causes"])
    (change,) = found["changes"]
    assert change["name"] == "machine.chip.clock"
    assert "links, hosts and memory keep their rates" in change["text"]


def test_slower_links_change_the_collective_alone(session: Session) -> None:
    found = session.what_if({"machine": {"links.ipu_link": 1e9}})
    assert [cause["part"] for cause in found["causes"]] == ["collective"]
    assert "`all-reduce`" in found["sentence"]
    parts = ("compute", "exchange", "sync", "host")
    assert all(found["before"]["parts"][name] == found["after"]["parts"][name] for name in parts)


def test_causes_account_for_the_whole_change(session: Session) -> None:
    found = session.what_if({"batch": 64})
    told = sum(cause["seconds_after"] - cause["seconds_before"] for cause in found["causes"])
    change = found["after"]["step_seconds"] - found["before"]["step_seconds"]
    assert told == pytest.approx(change, rel=0.1)
    assert "samples a second" in found["sentence"]
    assert "more than before" in found["memory"]["sentence"]


def test_nothing_changed_is_said(session: Session) -> None:
    found = session.what_if({"seed": 5})
    assert found["sentence"] == "The step takes the same time."
    assert found["causes"] == []
    assert "as before" in found["memory"]["sentence"]


def test_words_are_lines_of_a_terminal(session: Session) -> None:
    text = worded(session.what_if({"batch": 16_384, "ipus": 4}))
    assert "batch 8 -> 16384: work and activations follow the micro-batch" in text
    assert "DOES NOT FIT" in text
    assert all(len(line) < 220 for line in text.splitlines())


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--set", "batch=32"], 0, "batch 8 -> 32"),
        (["--set", "batch=30000"], 3, "DOES NOT FIT"),
        (["--set", "nothing=1"], 2, ""),
        ([], 2, ""),
    ],
)
def test_the_command(words: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "zoo:mnist", "--batch", "8", "--quiet", *words]) == status
    assert said in capsys.readouterr().out


def test_the_command_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--set", "machine.chip.clock=2e9", "--set", "machine.links.ipu_link=1e9", "--json", "--quiet"]
    assert main(["whatif", "zoo:mnist", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert {change["name"] for change in found["changes"]} == {"machine.chip.clock", "machine.links.ipu_link"}


def test_changes_without_effect_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["whatif", "zoo:mnist", "--ipus", "1", "--shard-optimiser", "--set", "queue_depth=9", "--set", "steps=5"]
    assert main([*words, "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "shard_optimiser (there is one replica" in shown
    assert "queue_depth (batches queue in inference only)" in shown
    assert "steps (of the numbers of a run" in shown


def test_a_value_that_it_has_already_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "zoo:mnist", "--ipus", "1", "--set", "batch=16", "--quiet"]) == 0
    assert "every setting has this value already" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["batch", "machine.chip.clock", "dims.batch"])
def test_a_setting_changed_twice_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["whatif", "zoo:mnist", "--set", f"{name}=8", "--set", f"{name}=9", "--quiet"]) == 2
    assert f"'{name}' is set twice" in capsys.readouterr().err
