"""The compare command: its exit status, and files that are no reports."""

import json
from pathlib import Path

import pytest

from simulator.__main__ import main
from simulator.report.build import build
from tests.simulator.report.made import dense


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    report = dict(build(dense()))
    slower = {**report, "step_seconds": report["step_seconds"] * 1.1}
    slower["samples_per_second"] = report["samples_per_second"] / 1.1
    for name, found in (("a", report), ("b", slower)):
        (tmp_path / f"{name}.json").write_text(json.dumps(found))
    return str(tmp_path / "a.json"), str(tmp_path / "b.json")


def test_a_comparison_is_printed(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *files]) == 0
    assert capsys.readouterr().out.startswith("+10.0% step time")
    assert main(["compare", *files, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "podium.comparison/1"


def test_a_pipeline_can_fail_on_what_got_slower(files: tuple[str, str]) -> None:
    assert main(["compare", *files, "--slower-than", "5"]) == 1
    assert main(["compare", *files, "--slower-than", "10"]) == 0
    assert main(["compare", *reversed(files), "--slower-than", "5"]) == 0


@pytest.mark.parametrize(
    "content", ["", "[1]", '{"schema": "other/1"}', '{"schema": "podium.report/1"}', "[" * 100_000]
)
def test_what_is_no_report_is_refused(
    files: tuple[str, str], content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.json").write_text(content)
    assert main(["compare", files[0], str(tmp_path / "c.json")]) == 2
    assert "report.invalid" in capsys.readouterr().err
    assert main(["compare", files[0], str(tmp_path / "none.json")]) == 2


def test_a_report_that_was_changed_is_refused(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    changed = Path(files[1])
    changed.write_text(json.dumps({**json.loads(changed.read_text()), "step_seconds": "abc"}))
    assert main(["compare", *files]) == 2
    assert "changed after it was written" in capsys.readouterr().err


def test_a_limit_that_nothing_can_exceed_is_refused(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *files, "--slower-than", "nan"]) == 2
    assert "--slower-than cannot be nan" in capsys.readouterr().err
