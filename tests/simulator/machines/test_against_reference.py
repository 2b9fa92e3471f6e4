"""Our own constants against the project's reference collection, where that is at hand."""

import csv
import os
from pathlib import Path

import pytest
import yaml

from simulator.machines.facts import fact
from simulator.planner.elementwise import codelet

REFERENCE = Path(os.environ.get("PODIUM_SHARED", Path(__file__).parents[4] / "shared")) / "reference" / "ipu"
pytestmark = pytest.mark.skipif(
    not REFERENCE.is_dir(), reason=f"no reference collection at {REFERENCE} (PODIUM_SHARED)"
)

SAME = {
    "tile.count": ("tile", "tiles_per_ipu_mk2"),
    "tile.memory": ("tile", "memory_bytes_per_tile_mk2"),
    "tile.workers": ("tile", "worker_contexts"),
    "exchange.bytes_per_cycle": ("exchange", "bytes_per_cycle_receive"),
    "sync.internal": ("exchange", "max_ipu_sync_delay"),
    "sync.external_hop": ("sync", "external_sync_latency_per_hop"),
    "links.ipu_link": ("links", "ipu_link_bw_per_direction"),
    "links.ipu_link_efficiency": ("links", "ipu_link_efficiency"),
    "host.link": ("links", "host_link_bw_per_m2000"),
    "chips.gc200_clock": ("clocks", "gc200_hz"),
    "amp.weight_load": ("amp", "weight_load_cycles_64bit"),
}


@pytest.mark.parametrize("name", SAME)
def test_constants_are_those_of_the_reference(name: str) -> None:
    section, key = SAME[name]
    reference = yaml.safe_load((REFERENCE / "facts.yaml").read_text("utf-8"))
    assert fact(name) == float(reference[section][key]["value"])


@pytest.mark.parametrize(
    ("function", "theirs"),
    [("add", "ADD"), ("mul", "MULTIPLY"), ("div", "DIVIDE"), ("max", "MAXIMUM"), ("pow", "POWER"), ("sub", "SUBTRACT")],
)
@pytest.mark.parametrize(("dtype", "type_name"), [("float16", "HALF"), ("float32", "FLOAT")])
def test_codelets_are_those_of_the_reference(function: str, theirs: str, dtype: str, type_name: str) -> None:
    with (REFERENCE / "codelets.csv").open(encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["codelet"], row["op"], row["dtype"]) == ("binary_1d", theirs, type_name)
        ]
    found = codelet(function, dtype, 2)
    assert (found.elements, found.cycles) == (int(rows[0]["elems_per_loop"]), int(rows[0]["cycles_per_loop"]))
