"""The command line: exit codes, text and JSON, and refusals that say what to do."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.__main__ import main
from tests.simulator.onnx_models import model, node, value

ROOT = Path(__file__).parents[2]


def test_a_model_that_fits_exits_0_with_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo:mnist", "--system", "pod16", "--batch", "8", "--quiet"]) == 0
    said = capsys.readouterr().out
    assert "zoo:mnist: training on pod16, 16 IPUs" in said
    assert "global batch 8 x 1 x 16 = 128" in said


def test_json_is_the_whole_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo:mnist", "--task", "infer", "--ipus", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["schema"] == "podium.report/1"
    assert report["parallel"]["ipus"] == 1
    assert report["latency"]["seconds"] == report["step_seconds"]


def test_what_does_not_fit_exits_3_and_still_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo:mnist", "--batch", "8192"]) == 3
    said = capsys.readouterr().out
    assert "DOES NOT FIT" in said
    assert "Lower the batch" in said
    assert re.search(r"over by [\d.]+ .iB at step \d+, in conv\d[.\w]*\. Largest on it:", said)
    largest = said.split("Largest on it:")[1].split("To make it fit:")[0].strip().splitlines()
    assert len(largest) == 3
    assert all("iB" in line for line in largest)


def test_the_word_of_the_launcher_is_understood(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "zoo:mnist", "--quiet"]) == 0
    assert "zoo:mnist" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["no-such-file.onnx"], "model.not_found"),
        (["zoo:nothing"], "model.unknown_zoo"),
        (["zoo:mnist", "--system", "pod5"], "system.unknown"),
        (["zoo:mnist", "--ipus", "3"], "system.size"),
        (["zoo:mnist", "--batch", "0"], "config.invalid"),
        (["zoo:mnist", "--dim", "width"], "config.invalid"),
    ],
)
def test_bad_input_exits_2_with_a_code(arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*arguments, "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["code"] == code
    assert code in said.err


def test_an_open_dimension_is_asked_for_with_the_option_that_gives_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "open.onnx"
    path.write_bytes(model([node("Relu", ["x"], ["y"])], [value("x", ["n", "width"])], [value("y", ["n", "width"])]))
    assert main([str(path), "--task", "infer", "--quiet"]) == 2
    assert "--dim width=64" in capsys.readouterr().err
    assert main([str(path), "--task", "infer", "--quiet", "--dim", "width=64"]) == 0


def test_a_fault_of_ours_exits_5(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("simulator.pipeline.simulate", broken)
    assert main(["zoo:mnist", "--json"]) == 5
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "internal"


def test_an_unknown_option_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo:mnist", "--nonsense"]) == 2
    assert "--nonsense" in capsys.readouterr().err


def test_no_model_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--batch", "4"]) == 2
    assert "zoo:NAME" in capsys.readouterr().err


def test_a_file_may_name_the_model_and_every_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("model: zoo:mnist\ntask: infer\nipus: 1\nbatch: 4\n")
    assert main(["--config", str(file), "--batch", "8", "--json", "--quiet"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["config"]["task"], report["config"]["batch"]) == ("infer", 8)
    origins = report["config_origins"]
    assert (origins["task"], origins["batch"], origins["precision"]) == ("given", "given", "assumed")


def test_as_a_module_from_a_shell_it_is_quick_and_small() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "simulator", "zoo:mnist", "--system", "m2000", "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    report = json.loads(done.stdout)
    assert report["parallel"]["system"] == "m2000"
    assert report["simulation"]["cpu_seconds"] < 5
    assert report["simulation"]["peak_bytes"] < 500 * 2**20


def test_a_model_with_a_batch_of_its_own_has_it_unless_another_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.onnx"
    file.write_bytes(model([node("ReduceSum", ["x"], ["y"], keepdims=0)], [value("x", [1, 4])], [value("y", [])]))
    assert main([str(file), "--task", "infer", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parallel"]["micro_batch"] == 1
    assert main([str(file), "--task", "infer", "--batch", "3"]) == 2
    assert "batch of 1 and no other" in capsys.readouterr().err
