"""The report as one page: everything inside, nothing fetched, names of users as text. tests/e2e looks at it."""

import json
import re
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.report.build import build
from simulator.report.html import page
from tests.simulator.report.made import dense, pipeline


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return dict(build(dense()))


def data_of(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_page_holds_the_whole_report(report: dict[str, Any]) -> None:
    assert data_of(page(report)) == report
    long = dict(build(pipeline()))
    assert data_of(page(long)) == long


def test_nothing_is_fetched(report: dict[str, Any]) -> None:
    text = page(report)
    markup = text[: text.index('id="data"')]
    assert "default-src 'none'" in text
    assert not re.findall(r"(?:src|href)\s*=\s*\"(?:https?:)?//", markup)
    scripts = text[text.index('"use strict"') :]
    assert set(re.findall(r"https?://[^\"' ]+", scripts)) == {"http://www.w3.org/2000/svg"}
    assert not re.findall(r"\{\{(title|css|js|data)\}\}", markup)


@pytest.mark.parametrize(
    "name", ["</script><script>alert(1)</script>", "<!--<script>", "{{css}}", "\u2028", "\udc80", '"&quot;']
)
def test_names_are_never_markup(report: dict[str, Any], name: str) -> None:
    operators = [{**report["operators"][0], "name": name}, *report["operators"][1:]]
    hostile = {**report, "model": {**report["model"], "name": name}, "operators": operators}
    text = page(hostile)
    assert data_of(text) == hostile
    assert text.count("<script") == page(report).count("<script")


def test_the_command_writes_page_trace_and_table(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    html, trace, table = (tmp_path / name for name in ("r.html", "r.json", "r.csv"))
    words = ["zoo:mnist", "--quiet", "--json", "--html", str(html), "--trace", str(trace), "--csv", str(table)]
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert data_of(html.read_text())["step_seconds"] == report["step_seconds"]
    assert json.loads(trace.read_text())["traceEvents"]
    assert table.read_text().count("\n") == len(report["operators"]) + 1


def test_a_file_that_cannot_be_written_is_said(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zoo:mnist", "--quiet", "--html", str(tmp_path / "none" / "r.html")]) == 2
    assert "output.not_written" in capsys.readouterr().err
