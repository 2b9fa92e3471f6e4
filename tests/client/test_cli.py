"""The command line where no server is needed: arguments, JSON on stdout alone, and text that a terminal cannot obey."""

import json
from pathlib import Path

import pytest

from podium_client.cli import main
from podium_client.printing import EventPrinter, clean
from tests.client.wire import problem, serve


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PODIUM_TOKEN", "pod_x")


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "model.onnx", "--system", "pod4"],
        ["run", "model.onnx", "--train", "--infer", "--system", "pod4"],
        ["run", "zoo:mnist", "--train", "--system", "pod4", "--steps", "0"],
        ["run", "zoo:mnist", "--train", "--system", "pod4", "--dim", "batch"],
        ["run", "zoo:mnist", "--train", "--system", "pod4", "--learning-rate", "nan"],
        ["run", "zoo:mnist", "--train"],
        ["run", "absent.onnx", "--train", "--system", "pod4"],
        ["fly"],
        [],
    ],
)
def test_arguments_that_make_no_sense_are_bad_input_also_as_json(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--json"]) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["exit_code"] == 2
    assert printed.err.startswith("podium: ")


def test_a_refusal_lists_the_fields_to_mend(capsys: pytest.CaptureFixture[str]) -> None:
    fields = [{"field": "config.batch", "code": "max", "detail": "At most 10."}]
    with serve(lambda request: (422, problem("config.invalid", errors=fields))) as wire:
        code = main(["run", "zoo:mnist", "--train", "--system", "pod4", "--url", wire.url])
    assert code == 2
    assert "config.batch: At most 10." in capsys.readouterr().err


def test_login_stores_no_token_that_the_server_does_not_know(tmp_path: Path) -> None:
    with serve(lambda request: (200, {"user": None, "organizations": []})) as wire:
        assert main(["login", "--token", "pod_wrong", "--url", wire.url]) == 6
    assert not list(tmp_path.rglob("client.json"))


def test_only_options_that_were_given_are_sent() -> None:
    def answer(request):
        job = {"id": "j", "number": 1, "name": "n", "model": {"name": "mnist"}, "task": "train"}
        return 201, job | {"system": "pod4", "ipus": 4, "state": "queued", "result": None, "end": None}

    with serve(answer) as wire:
        assert main(["run", "zoo:mnist", "--train", "--system", "pod4", "--steps", "7", "--url", wire.url]) == 0
        assert json.loads(wire.seen[0].body) == {
            "model": "zoo:mnist",
            "config": {"task": "train", "system": "pod4", "steps": 7},
        }


def test_escape_codes_from_a_model_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert clean("a\x1b[2Jb\rc") == "a [2Jb c"
    lines = [{"level": "info", "message": "layer \x1b]0;owned\x07", "time": ""}]
    EventPrinter()({"seq": 1, "kind": "log", "attempt": 1, "time": "", "data": {"lines": lines}})
    assert "\x1b" not in capsys.readouterr().err


def test_the_newest_metric_is_printed_before_the_job_ends(capsys: pytest.CaptureFixture[str]) -> None:
    printer = EventPrinter()
    for step in range(1, 6):
        points = [{"step": step, "loss": 1 / step, "samples_per_second": 100.0}]
        printer({"seq": step, "kind": "metrics", "attempt": 1, "time": "", "data": {"points": points}})
    printer({"seq": 6, "kind": "ended", "attempt": 1, "time": "", "data": {"code": "ok", "message": "Done."}})
    printed = capsys.readouterr().err.splitlines()
    assert [line.split("  ")[0] for line in printed] == ["step 1", "step 5", "ended: Done."]
