"""What a child says becomes rows: bounded, typed, and nothing of a shape that is not known."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workers.relay import MOST_LINES_A_BATCH, MOST_ROW_BYTES, Relay

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KINDS = ("phase", "log", "metric", "progress", "report", "nonsense")
NAMES = ("phase", "fraction", "level", "message", "step", "loss", "done", "total")


def rows(*events: tuple[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    relay = Relay()
    for kind, data in events:
        relay.add(kind, data)
    return relay.take().rows()


def test_a_batch_in_order() -> None:
    found = rows(
        ("phase", {"phase": "plan", "fraction": 0.2}),
        ("metric", {"step": 1, "loss": 2.5, "simulated_seconds": 0.1, "wall_seconds": 1.0, "samples_per_second": 9.0}),
        ("phase", {"phase": "plan", "fraction": 0.9}),
        ("log", {"level": "warning", "message": "careful"}),
        ("progress", {"done": 1, "total": 4}),
        ("progress", {"done": 2, "total": 4}),
    )
    assert [kind for kind, _ in found] == ["phase", "log", "metrics", "progress"]
    assert found[0][1] == {"phase": "plan", "fraction": 0.9}
    assert (found[1][1]["lines"][0]["level"], found[1][1]["lines"][0]["message"]) == ("warning", "careful")
    assert found[2][1]["points"][0]["loss"] == 2.5
    assert found[3][1] == {"done": 2, "total": 4}


def test_the_current_phase_is_the_last_one_named() -> None:
    relay = Relay()
    for name in ("load", "trace", "load"):
        relay.add("phase", {"phase": name, "fraction": 1})
    assert relay.take().phase == {"name": "load", "fraction": 1}


def test_a_batch_is_handed_out_once() -> None:
    relay = Relay()
    relay.add("log", {"message": "x"})
    assert not relay.take().empty
    assert relay.take().empty


def test_a_flood_is_counted_not_kept() -> None:
    found = rows(*[("log", {"message": "y" * 5000})] * 5000)
    lines = [line for _, data in found for line in data["lines"]]
    assert len(lines) == MOST_LINES_A_BATCH + 1
    assert "4800 log lines were dropped" in lines[-1]["message"]
    assert max(len(line["message"]) for line in lines) <= 2000


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(KINDS), st.dictionaries(st.sampled_from(NAMES), values, max_size=4)), max_size=8)
)
def test_nothing_a_child_says_breaks_a_row(events: list[tuple[str, dict[str, Any]]]) -> None:
    for kind, data in rows(*events):
        assert kind in ("phase", "log", "metrics", "progress")
        text = json.dumps(data, allow_nan=False, ensure_ascii=False)
        assert len(text.encode("utf-8", "surrogatepass")) <= MOST_ROW_BYTES
        for point in data.get("points", ()):
            assert all(value is None or isinstance(value, int | float) for value in point.values())
