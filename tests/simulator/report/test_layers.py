"""Names as paths, and layers as sums of the operators in them."""

from typing import Any

import pytest

from simulator.report.layers import layers
from simulator.report.names import path_of


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("layer3.attention.softmax", ("layer3", "attention", "softmax")),
        ("/layer3/attention/Softmax", ("layer3", "attention", "Softmax")),
        ("conv1", ("conv1",)),
        ("//", ("//",)),
        ("", ("",)),
    ],
)
def test_names_are_split_at_dots_and_slashes(name: str, path: tuple[str, ...]) -> None:
    assert path_of(name) == path


def row(name: str, seconds: float, kind: str = "matmul", pass_: str = "forward") -> dict[str, Any]:
    return {
        "name": name, "kind": kind, "pass": pass_, "seconds": seconds, "share": seconds / 10, "flops": 7,
        "compute_cycles": 1, "exchange_cycles": 2, "sync_cycles": 3,
    }  # fmt: skip


def test_layers_add_up_what_is_in_them() -> None:
    rows = [
        row("a.x.p", 4.0), row("a.x.p", 1.0, pass_="backward"), row("a.x.q", 2.0), row("a.y", 1.0), row("b", 9.0),
        row("all-reduce", 5.0, kind="collective"),
    ]  # fmt: skip
    found = layers(rows)
    assert [(each["name"], each["depth"], each["nodes"], each["seconds"]) for each in found] == [
        ("b", 1, 1, 9.0),
        ("a", 1, 3, 8.0),
        ("a.x", 2, 2, 7.0),
    ]
    assert found[1]["flops"] == 28
    assert found[1]["sync_cycles"] == 12
