"""The order of a step: it holds every cycle of it, and stays small for deep models."""

from itertools import pairwise

import pytest

from simulator.report import order, spans
from simulator.report.build import build
from tests.simulator.report.made import dense, pipeline


def test_the_time_line_holds_every_cycle_of_the_step() -> None:
    report = build(dense())
    line = report["time"]["timeline"]
    rows = [row for ipu in line["ipus"] for section in ipu["sections"] for row in section["rows"] * section["times"]]
    assert sum(sum(row[2:]) for row in rows) == report["time"]["total_cycles"]
    names = [line["names"][row[0]] for row in rows]
    assert names == ["host to IPU", "fc", "relu", "fc", "all-reduce", "", "IPU to host"]
    kinds = [line["kinds"][row[1]] for row in rows]
    assert kinds == ["host", "forward", "forward", "backward", "collective", "update", "host"]


def test_inference_has_no_update() -> None:
    line = build(dense(training=False))["time"]["timeline"]
    assert [section["label"] for section in line["ipus"][0]["sections"]] == ["in", "micro-batch", "out"]


def test_the_pipeline_is_drawn_block_by_block() -> None:
    parts = pipeline()
    blocks = build(parts)["time"]["timeline"]["pipeline"]
    assert len(blocks) == 2 * 4 * 8
    for stage in range(4):
        own = [block for block in blocks if block["stage"] == stage]
        for kind in ("forward", "backward"):
            passes = [block for block in own if block["kind"] == kind]
            assert [block["micro_batch"] for block in passes] == list(range(8))
        for back in (block for block in own if block["kind"] == "backward"):
            forward = next(b for b in own if (b["kind"], b["micro_batch"]) == ("forward", back["micro_batch"]))
            assert forward["start"] + forward["cycles"] <= back["start"]
    ends = max(block["start"] + block["cycles"] for block in blocks)
    assert ends == pytest.approx(parts.schedule.pipeline.total, rel=0.05)
    for ipu in range(4):
        own = sorted((b["start"], b["cycles"]) for b in blocks if b["ipu"] == ipu)
        assert all(start + cycles <= after + 1e-6 for (start, cycles), (after, _) in pairwise(own))


def test_a_long_pipeline_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "MOST_BLOCKS", 10)
    assert len(order.pipeline_blocks(pipeline())) == 10


def test_names_are_cut_until_there_are_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(f"layer{i}.block{j}.op{k}", "forward", 1, 2, 3) for i in range(3) for j in range(4) for k in range(5)]
    assert len(spans._joined(rows)) == 60
    monkeypatch.setattr(spans, "MOST_ROWS", 12)
    found = spans._joined(rows)
    assert len(found) == 12
    assert found[0] == ("layer0.block0", "forward", 5, 10, 15)
