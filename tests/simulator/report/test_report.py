"""The report: its shape, its conservation laws (and that a broken one stops it), its words."""

import json
from dataclasses import replace

import pytest

from simulator import SimulatorError
from simulator.report.build import Report, build
from simulator.report.checks import LAWS, checks
from simulator.report.reading import SCHEMA
from simulator.report.text import worded
from tests.simulator.handmade import BATCH, CLASSES, WIDTH
from tests.simulator.report.made import changed, dense, pipeline, too_small

TOP_LEVEL = {
    "schema", "engine", "model", "fits", "step_seconds", "samples_per_second", "latency", "intervals", "memory", "time",
    "operators", "layers", "roofline", "costs", "parallel", "config", "config_origins", "coverage", "provenance",
    "differences", "checks", "notes",
}  # fmt: skip


@pytest.fixture(scope="module")
def report() -> Report:
    return build(dense())


def test_the_report_has_exactly_its_fields_and_is_json(report: Report) -> None:
    assert set(report) == TOP_LEVEL
    assert report["schema"] == SCHEMA
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False)) == report


def test_memory_adds_up_over_tiles(report: Report) -> None:
    memory = report["memory"]
    assert all(len(column) == memory["tiles"] == 1472 for column in memory["by_tile"].values())
    assert list(memory["by_tile"]) == memory["categories"]
    assert {name: sum(column) for name, column in memory["by_tile"].items()} == memory["totals"]
    assert sum(memory["totals"].values()) == memory["total_bytes"]
    worst = memory["worst_tile"]
    held = [sum(column[tile] for column in memory["by_tile"].values()) for tile in range(1472)]
    assert max(held) == held[worst["tile"]] == worst["bytes"]
    assert worst["bytes"] + worst["free"] == memory["bytes_per_tile"]
    assert len(memory["liveness"]) == 4


def test_time_adds_up_over_tiles_and_over_parts(report: Report) -> None:
    time = report["time"]
    for tile in range(1472):
        assert (
            sum(time["by_tile"][name][tile] for name in ("compute", "exchange", "sync", "idle")) == time["total_cycles"]
        )
    parts = ("compute", "exchange", "sync", "host", "collective")
    assert sum(time[f"{name}_seconds"] for name in parts) == pytest.approx(time["total_seconds"])
    assert sum(time["passes"].values()) == pytest.approx(time["total_seconds"])
    assert time["bound_by"] == max(parts, key=lambda name: time[f"{name}_seconds"])
    assert time["bound_by"] in time["sentence"]


def test_operators_are_sorted_and_take_all_of_the_time(report: Report) -> None:
    seconds = [row["seconds"] for row in report["operators"]]
    assert seconds == sorted(seconds, reverse=True)
    assert sum(seconds) == pytest.approx(report["step_seconds"])
    assert sum(row["share"] for row in report["operators"]) == pytest.approx(1)
    matmuls = {row["pass"]: row for row in report["operators"] if row["kind"] == "matmul"}
    assert matmuls["forward"]["flops"] == matmuls["backward"]["flops"] == 2 * BATCH * WIDTH * CLASSES
    assert matmuls["forward"]["name"] == "fc"
    assert {"host", "collective"} <= {row["kind"] for row in report["operators"]}


def test_intervals_hold_the_figure_and_say_what_they_rest_on(report: Report) -> None:
    low, high = report["intervals"]["step_seconds"]
    assert low < report["step_seconds"] < high
    slow, fast = report["intervals"]["samples_per_second"]
    assert slow < report["samples_per_second"] < fast
    assert report["intervals"]["basis"]
    assert any(note["code"] == "model.note" for note in report["notes"])


def test_throughput_counts_all_replicas(report: Report) -> None:
    assert report["samples_per_second"] == pytest.approx(4 * BATCH / report["step_seconds"])
    assert report["latency"] is None
    alone, deep = (build(dense(training=False, queue_depth=depth)) for depth in (1, 4))
    assert alone["latency"]["seconds"] == alone["step_seconds"] == alone["latency"]["in_flight_seconds"]
    assert deep["latency"]["queue_depth"] == 4
    assert deep["latency"]["in_flight_seconds"] == pytest.approx(4 * deep["step_seconds"])
    assert build(dense(training=False))["latency"]["queue_depth"] >= 1


def test_constants_are_told_with_their_source(report: Report) -> None:
    assert all(constant["source"] and constant["unit"] for constant in report["provenance"]["constants"])


def test_every_check_holds(report: Report) -> None:
    assert len(report["checks"]) == len(LAWS)
    assert all(check["ok"] for check in report["checks"])


def test_a_lost_cycle_stops_the_report() -> None:
    parts = dense()
    idle = parts.timeline.tiles.idle.copy()
    idle[7] -= 1
    wrong = replace(parts.timeline, tiles=replace(parts.timeline.tiles, idle=idle))
    with pytest.raises(SimulatorError, match="time of every tile") as stopped:
        build(changed(parts, timed=lambda: wrong))
    assert stopped.value.code == "report.conservation"
    assert stopped.value.exit_code == 5


def test_a_lost_byte_stops_the_report() -> None:
    parts = dense()
    first = parts.assignment.plans[0]
    plans = (replace(first, received=first.received - 1), *parts.assignment.plans[1:])
    with pytest.raises(SimulatorError, match="exchange"):
        checks(changed(parts, assignment=replace(parts.assignment, plans=plans)))
    weights = parts.memory.by_tile["weights"].copy()
    weights[weights.argmax()] -= 4
    memory = replace(parts.memory, by_tile={**parts.memory.by_tile, "weights": weights})
    with pytest.raises(SimulatorError, match="memory of tensors"):
        checks(changed(parts, memory=memory))


def test_a_wrong_total_stops_the_report() -> None:
    parts = dense()
    wrong = replace(parts.timeline, total=parts.timeline.total + 1)
    with pytest.raises(SimulatorError, match="time of operators"):
        checks(changed(parts, timed=lambda: wrong))


def test_more_work_than_the_unit_can_do_stops_the_report() -> None:
    parts = dense()
    first = parts.assignment.plans[0]
    plans = (replace(first, flops=10**15), *parts.assignment.plans[1:])
    with pytest.raises(SimulatorError, match="utilisation"):
        checks(changed(parts, assignment=replace(parts.assignment, plans=plans)))


def test_negative_liveness_stops_the_report() -> None:
    parts = dense()
    sunk = parts.memory.not_always_live.copy()
    sunk[0] = -1
    with pytest.raises(SimulatorError, match="liveness"):
        checks(changed(parts, memory=replace(parts.memory, not_always_live=sunk)))


def test_every_ipu_of_a_pipeline_is_checked() -> None:
    parts = pipeline()
    assert all("(IPU 0 of 4)" in check["detail"] for check in checks(parts))
    line = parts.classes[2].timeline
    wrong = replace(line, bubble=line.bubble - 1)
    with pytest.raises(SimulatorError, match=r"time of operators \(.*IPU 2 of 4"):
        checks(changed(parts, 2, timed=lambda: wrong))


def test_a_pipeline_is_told_by_stage_and_by_ipu() -> None:
    found = build(pipeline())
    stages = found["parallel"]["stages"]
    assert [(row["stage"], row["ipu"]) for row in stages] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    for row in stages:
        assert row["begins"]
        work = row["compute_seconds"] + row["exchange_seconds"] + row["sync_seconds"]
        assert work == pytest.approx(row["forward_seconds"] + row["backward_seconds"])
    parts = ("compute", "exchange", "sync", "host", "collective", "copy", "bubble")
    for row in found["time"]["ipus"]:
        assert sum(row[f"{name}_seconds"] for name in parts) == pytest.approx(found["step_seconds"])
    assert found["time"]["bubble_seconds"] == min(row["bubble_seconds"] for row in found["time"]["ipus"])
    memory = found["memory"]
    assert [row["ipu"] for row in memory["ipus"]] == [0, 1, 2, 3]
    fullest = max(memory["ipus"], key=lambda row: row["worst_tile"]["bytes"])
    assert (fullest["ipu"], fullest["worst_tile"]["bytes"]) == (memory["ipu"], memory["worst_tile"]["bytes"])
    assert all(sum(row["tile_bytes"]) == row["total_bytes"] for row in memory["ipus"])
    assert {row["ipu"] for row in found["operators"]} == {0, 1, 2, 3}


def test_the_text_says_what_matters(report: Report) -> None:
    text = worded(report)
    assert "(simulated)" in text
    assert "Memory: fits" in text
    assert "fc" in text
    assert all(len(line) < 220 for line in text.splitlines())


def test_names_of_users_cannot_steer_the_terminal(report: Report) -> None:
    operators = [{**report["operators"][0], "name": "\x1b[31mred\nnext"}]
    text = worded({**report, "operators": operators, "model": {**report["model"], "name": "\x1b]0;title\x07"}})
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "red\ufffdnext" in text


def test_the_text_of_what_does_not_fit_says_what_to_do() -> None:
    found = build(too_small())
    assert not found.fits
    text = worded(found)
    assert "DOES NOT FIT" in text
    assert found["memory"]["overflow"]["remedies"][0]["text"] in text
