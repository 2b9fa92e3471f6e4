"""The benchmark runs, measures what it says it does, and its peers' figures are whole."""

from __future__ import annotations

import csv

import pytest

from tests.bench.__main__ import PEERS, beside, growth, table
from tests.bench.cases import COMMANDS, Limits, Measurement, in_process
from tests.bench.child import run


def test_a_command_is_measured_from_start_to_report() -> None:
    taken = run(("zoo:mnist", "--system", "pod4", "--quiet", "--json"))
    assert taken.status == 0
    assert 0.3 < taken.cpu_seconds < 60
    assert 100 < taken.peak_mb < 1000


def test_what_one_process_does_again_is_faster_than_the_first_time() -> None:
    found = {each.name: each.cpu_seconds for each in in_process("zoo:mnist", batches=(5, 7))}
    assert found["what-if constants"] < 0.1
    assert found["what-if batch"] < 2
    assert found["candidate of a plan"] < 2


@pytest.mark.parametrize(
    ("seconds", "peak", "verdict"),
    [(1.9, 299, "aim reached"), (2.1, 299, "kept"), (1.9, 301, "kept"), (4.1, 100, "too slow or large"),
     (1.0, 501, "too slow or large")],
)  # fmt: skip
def test_a_verdict_is_of_time_and_memory(seconds: float, peak: float, verdict: str) -> None:
    assert Measurement("x", seconds, peak, Limits(2, 4, 300, 500)).verdict == verdict


def test_the_table_says_how_many_times_ours_a_peer_takes() -> None:
    found = [Measurement("resnet50-infer", 2.0, 200, Limits()), Measurement("what-if constants", 0.001, None, Limits())]
    lines = beside(found)
    assert any("SCALE-Sim" in line and "110 times ours" in line for line in lines)
    assert any("Calculon" in line and "3.1 times ours" in line for line in lines)
    assert "2.00 s" in table(found)[1]


def test_growth_is_judged_by_the_worse_of_time_and_memory() -> None:
    few, many = Measurement("resnet50-pod64", 2.0, 200, Limits()), Measurement("resnet50-pod65536", 2.1, 300, Limits())
    assert growth([few, many])[0].endswith("kept")


def test_every_peer_has_a_source_and_something_of_ours_beside_it() -> None:
    names = {*COMMANDS, "what-if constants"}
    with PEERS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 10
    for row in rows:
        assert row["source"]
        assert float(row["cpu_s"] or row["wall_s"]) > 0
        assert row["beside"] in names
