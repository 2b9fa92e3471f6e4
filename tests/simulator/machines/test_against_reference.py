"""Our own constants against the project's reference collection, where that is at hand."""

import csv
import os
from pathlib import Path

import pytest
import yaml

from simulator.machines.catalogue import system
from simulator.machines.ipu import ipu
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
    "chip.clock": ("clocks", "gc200_hz"),
    "tile.standard_region": ("tile", "region0_standard"),
    "amp.weight_load": ("amp", "weight_load_cycles_64bit"),
}


@pytest.mark.parametrize("name", SAME)
def test_constants_are_those_of_the_reference(name: str) -> None:
    section, key = SAME[name]
    reference = yaml.safe_load((REFERENCE / "facts.yaml").read_text("utf-8"))
    theirs = reference[section][key]
    assert ipu("GC200").fact(name) == float(theirs.get("bytes", theirs["value"]))


@pytest.mark.parametrize(
    ("chip", "name", "section", "key"),
    [
        ("GC2", "tile.count", "tile", "tiles_per_ipu_mk1"),
        ("GC2", "tile.memory", "tile", "memory_bytes_per_tile_mk1"),
        ("GC2", "chip.clock", "clocks", "gc2_hz"),
        ("Bow", "chip.clock", "clocks", "bow_hz"),
        ("C600", "chip.clock", "clocks", "c600_hz"),
    ],
)
def test_constants_of_other_chips_are_those_of_the_reference(chip: str, name: str, section: str, key: str) -> None:
    reference = yaml.safe_load((REFERENCE / "facts.yaml").read_text("utf-8"))
    assert ipu(chip).fact(name) == float(reference[section][key]["value"])


SYSTEM_ROWS = {
    "C600 card": "c600", "IPU-M2000 (IPU-POD4 DA)": "pod4", "Bow-2000": "bow2000", "IPU-POD16 DA": "pod16",
    "Bow Pod16 DA": "bowpod16", "IPU-POD64": "pod64", "Bow Pod64": "bowpod64", "IPU-POD128": "pod128",
    "Bow Pod128": "bowpod128", "IPU-POD256": "pod256", "Bow Pod256": "bowpod256", "Bow Pod1024": "bowpod1024",
    "Largest IPU-POD": "pod65536", "C2 card pair (Mk1)": "c2",
}  # fmt: skip


@pytest.mark.parametrize("theirs", SYSTEM_ROWS)
def test_systems_are_those_of_the_reference(theirs: str) -> None:
    with (REFERENCE / "systems.csv").open(encoding="utf-8") as file:
        row = next(row for row in csv.DictReader(file) if row["system"] == theirs)
    found = system(SYSTEM_ROWS[theirs])
    assert found.ipus == int(row["ipus"])
    if found.chip != "C600":  # a card is no IPU-Machine
        assert found.machines == int(row["machines"].split()[0])
    chip = found.ipu
    flops = 2 * 16 * 4 * chip.amp_units(True, True) // 16 * chip.tiles * chip.clock_hz * found.ipus
    assert flops / 1e15 == pytest.approx(float(row["fp16_pflops"].split()[0]), rel=0.015)
    memory = found.ipus * chip.tiles * chip.bytes_per_tile / 1e9
    assert memory == pytest.approx(float(row["in_processor_memory_gb"]), rel=0.06)


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
