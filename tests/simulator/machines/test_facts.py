"""Constants carry their source and are ordered; systems follow the rules of partitions."""

import pytest

from simulator import SimulatorError
from simulator.machines.catalogue import slice_of, system, systems
from simulator.machines.facts import CONFIDENCES, fact, facts, whole
from simulator.machines.ipu import ipu


@pytest.mark.parametrize("name", sorted(facts()))
def test_every_constant_says_what_it_is_and_where_it_is_from(name: str) -> None:
    found = facts()[name]
    assert found.unit
    assert len(found.source) > 10
    assert found.confidence in CONFIDENCES
    assert found.confidence != "fitted", "nothing is fitted yet, and the reports say so"


def test_the_two_regions_of_a_tile_are_all_of_its_memory() -> None:
    assert whole("tile.standard_region") + whole("tile.interleaved_region") == whole("tile.memory") == 638_976


def test_peak_of_the_exchange_is_the_published_one() -> None:
    chip = ipu("GC200")
    assert chip.tiles * chip.exchange_bytes_per_cycle * chip.clock_hz == pytest.approx(7.8e12, rel=0.001)


def test_bounds_of_rates_and_times_lie_on_their_sides() -> None:
    assert fact("sync.internal", "low") < fact("sync.internal") < fact("sync.internal", "high")
    assert fact("links.ipu_link_efficiency", "low") > fact("links.ipu_link_efficiency", "high")


def test_the_systems_others_rely_on_exist() -> None:
    sizes = {found.id: (found.ipus, found.machines, found.link_domains) for found in systems()}
    assert sizes == {
        "m2000": (4, 1, 1),
        "pod4": (4, 1, 1),
        "pod16": (16, 4, 1),
        "pod64": (64, 16, 1),
        "pod128": (128, 32, 2),
        "pod256": (256, 64, 4),
    }


def test_partitions_are_powers_of_two_up_to_the_system() -> None:
    assert system("pod16").allowed_sizes == (1, 2, 4, 8, 16)
    told = system("POD256").to_dict()
    assert told["allowed_sizes"][-1] == 256
    assert told["tiles_per_ipu"] == 1472
    assert told["clock_hz"] == 1.325e9
    assert told["sources"]


def test_an_unknown_system_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(SimulatorError, match="pod64") as refused:
        system("pod9")
    assert refused.value.code == "system.unknown"
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("name", "ipus", "meant"),
    [
        ("ipus:8", None, ("pod16", 8)),
        ("IPUS:256", 256, ("pod256", 256)),
        ("pod64", None, ("pod64", 64)),
        ("pod64", 2, ("pod64", 2)),
    ],
)
def test_a_bare_number_of_ipus_is_the_smallest_system_that_has_them(
    name: str, ipus: int | None, meant: tuple[str, int]
) -> None:
    found, size = slice_of(name, ipus)
    assert (found.id, size) == meant


@pytest.mark.parametrize(
    ("name", "ipus", "code"),
    [
        ("ipus:6", None, "system.size"), ("ipus:512", None, "system.size"), ("ipus:8", 4, "system.size"),
        ("ipus:0", None, "system.size"), ("ipus:", None, "system.unknown"), ("ipus:-8", None, "system.unknown"),
    ],
)  # fmt: skip
def test_a_number_that_is_no_partition_is_refused(name: str, ipus: int | None, code: str) -> None:
    with pytest.raises(SimulatorError) as refused:
        slice_of(name, ipus)
    assert refused.value.code == code
