"""CSV and trace of a report: every row and every cycle is there, and nothing a spreadsheet would run."""

import csv
import io
import json
from typing import Any

import pytest

from simulator.report.build import build
from simulator.report.perfetto import MOST_DRAWN, trace
from simulator.report.table import COLUMNS, csv_of
from tests.simulator.report.made import dense


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return build(dense())


def test_the_table_has_a_row_an_operator(report: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO(csv_of(report))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["name"] for row in rows] == [row["name"] for row in report["operators"]]
    assert sum(float(row["seconds"]) for row in rows) == pytest.approx(report["step_seconds"])


@pytest.mark.parametrize("name", ["=1+1", "@SUM(A1)", "-2", "+3", 'a,"b"\nc'])
def test_names_run_nothing_in_a_spreadsheet(report: dict[str, Any], name: str) -> None:
    text = csv_of({**report, "operators": [{**report["operators"][0], "name": name}]})
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["name"] == (f"'{name}" if name[0] in "=@-+" else name)


def events(report: dict[str, Any], thread: int) -> list[dict[str, Any]]:
    return [
        event for event in json.loads(trace(report))["traceEvents"] if event["ph"] == "X" and event["tid"] == thread
    ]


def test_bars_follow_each_other_and_end_with_the_step(report: dict[str, Any]) -> None:
    for thread in (1, 2):
        end = 0.0
        for bar in events(report, thread):
            assert bar["ts"] == pytest.approx(end, abs=1e-9)
            end = bar["ts"] + bar["dur"]
        assert end == pytest.approx(report["step_seconds"] * 1e6)


def test_phases_add_up_to_the_time_of_each_part(report: dict[str, Any]) -> None:
    total = sum(bar["dur"] for bar in events(report, 2) if bar["name"] == "sync")
    line = report["time"]["timeline"]
    cycles = sum(row[4] for section in line["ipus"][0]["sections"] for row in section["rows"])
    assert total == pytest.approx(cycles / line["clock_hz"] * 1e6)


def test_a_long_accumulation_is_drawn_in_short(report: dict[str, Any]) -> None:
    line = json.loads(json.dumps(report["time"]["timeline"]))
    section = next(each for each in line["ipus"][0]["sections"] if each["label"] == "micro-batch")
    section["times"] = 1000
    long = {**report, "time": {**report["time"], "timeline": line}}
    bars = events(long, 1)
    assert [bar["name"] for bar in bars if bar["cat"] == "repeated"] == [f"{1000 - MOST_DRAWN} more of micro-batch"]
    once = sum(sum(row[2:]) for row in section["rows"]) / line["clock_hz"]
    assert bars[-1]["ts"] + bars[-1]["dur"] == pytest.approx((report["step_seconds"] + 999 * once) * 1e6)


def test_a_pipeline_is_drawn_by_ipu_and_micro_batch(report: dict[str, Any]) -> None:
    blocks = [
        {"ipu": 0, "stage": 0, "kind": "forward", "micro_batch": 0, "start": 0, "cycles": 10},
        {"ipu": 1, "stage": 1, "kind": "forward", "micro_batch": 0, "start": 10, "cycles": 20},
    ]
    line = {**report["time"]["timeline"], "pipeline": blocks, "clock_hz": 1e6}
    found = json.loads(trace({**report, "time": {**report["time"], "timeline": line}}))["traceEvents"]
    bars = [event for event in found if event["ph"] == "X" and event["pid"] == 0]
    assert [(bar["tid"], bar["ts"], bar["dur"], bar["name"]) for bar in bars] == [
        (0, 0, 10, "forward 0"),
        (1, 10, 20, "forward 0"),
    ]
