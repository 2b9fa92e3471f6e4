"""The order of a step: it holds every cycle of it, and stays small for deep models."""

import pytest

from simulator.report import spans
from simulator.report.build import build
from tests.simulator.report.test_report import parts_of


def test_the_time_line_holds_every_cycle_of_the_step() -> None:
    report = build(parts_of())
    line = report["time"]["timeline"]
    rows = [row for ipu in line["ipus"] for section in ipu["sections"] for row in section["rows"] * section["times"]]
    assert sum(sum(row[2:]) for row in rows) == report["time"]["total_cycles"]
    names = [line["names"][row[0]] for row in rows]
    assert names == ["host to IPU", "fc", "relu", "fc", "all-reduce", "", "IPU to host"]
    kinds = [line["kinds"][row[1]] for row in rows]
    assert kinds == ["host", "forward", "forward", "backward", "collective", "update", "host"]


def test_inference_has_no_update() -> None:
    line = build(parts_of(training=False))["time"]["timeline"]
    assert [section["label"] for section in line["ipus"][0]["sections"]] == ["in", "micro-batch", "out"]


def test_names_are_cut_until_there_are_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"layer{i}.block{j}.op{k}", "forward", 1, 2, 3) for i in range(3) for j in range(4) for k in range(5)]
    assert len(spans._joined(rows)) == 60
    monkeypatch.setattr(spans, "MOST_ROWS", 12)
    found = spans._joined(rows)
    assert len(found) == 12
    assert found[0] == ("layer0.block0", "forward", 5, 10, 15)
