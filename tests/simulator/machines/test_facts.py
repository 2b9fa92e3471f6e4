"""Constants carry their source and are ordered; systems follow the rules of partitions."""

import pytest

from simulator import SimulatorError
from simulator.machines.catalogue import slice_of, system, systems
from simulator.machines.facts import CONFIDENCES, fact, whole
from simulator.machines.ipu import chips, ipu


@pytest.mark.parametrize(("chip", "name"), [(chip, name) for chip, known in chips().items() for name in known])
def test_every_constant_says_what_it_is_and_where_it_is_from(chip: str, name: str) -> None:
    found = chips()[chip][name]
    assert found.unit
    assert len(found.source) > 10
    assert found.confidence in CONFIDENCES
    assert found.confidence not in ("fitted", "given"), "what is fitted is in a file of its own"
    assert ipu(chip).fact(name) == found.value


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
        "c600": (1, 1, 1), "c2": (2, 1, 1), "m2000": (4, 1, 1), "pod4": (4, 1, 1), "bow2000": (4, 1, 1),
        "c600x8": (8, 8, 1), "ipuserver16": (16, 8, 1), "pod16": (16, 4, 1), "bowpod16": (16, 4, 1),
        "pod64": (64, 16, 1), "bowpod64": (64, 16, 1), "pod128": (128, 32, 2), "bowpod128": (128, 32, 2),
        "pod256": (256, 64, 4), "bowpod256": (256, 64, 4), "bowpod1024": (1024, 256, 16),
        "pod65536": (65_536, 16_384, 1024),
    }  # fmt: skip


@pytest.mark.parametrize("name", [found.id for found in systems()])
def test_every_number_of_a_system_has_its_source(name: str) -> None:
    found = system(name)
    assert {each.split(":")[0] for each in found.sources} == {
        "ipus", "machines", "hosts", "host_cpus", "topology", "streaming_bytes", "price_usd", "watts"
    }  # fmt: skip
    assert all(len(each.split(": ", 1)[1]) >= 7 for each in found.sources)
    assert found.machines * found.ipus_of_machine == found.ipus
    assert found.ipus_of_machine == found.ipu.whole("links.ipus_of_machine")


def test_a_slice_costs_what_its_machines_and_hosts_do() -> None:
    pod = system("pod64")
    assert [pod.machines_for(ipus) for ipus in (1, 4, 8, 64)] == [1, 1, 2, 16]
    assert pod.price_for(64) == 16 * 32_450
    assert pod.watts_for(64, hosts=4) == 16 * 1100 + 4 * 900
    assert [system("bowpod256").hosts_for(ipus) for ipus in (4, 64, 256)] == [1, 4, 16]
    assert system("c600").price_for(1) is None


def test_the_four_chips_differ_where_they_should() -> None:
    macs = {name: ipu(name).amp_units(True, True) * 4 for name in chips()}
    assert macs == {"GC2": 32, "GC200": 64, "Bow": 64, "C600": 64}
    assert [ipu(name).amp_units(True, False) for name in chips()] == [8, 8, 8, 8]
    assert (ipu("GC2").tiles, ipu("GC2").bytes_per_tile) == (1216, 256 * 1024)
    assert ipu("C600").whole("amp.units_quarter") == 16
    assert ipu("bow") is ipu("Bow")


def test_a_variant_changes_what_it_names_and_says_so() -> None:
    fast = ipu("GC200", {"chip.clock": 2e9, "links.ipu_link": 32e9, "tile.memory": 1 << 20, "fitted.matrix": 1.1})
    assert (fast.clock_hz, fast.fact("links.ipu_link"), fast.bytes_per_tile) == (2e9, 32e9, 1 << 20)
    assert fast.known["chip.clock"].confidence == "given"
    assert fast.fact("chip.clock", "low") == pytest.approx(2e9 * 1.33 / 1.325)
    assert fast.tiles == ipu("GC200").tiles
    assert ipu("GC200", {"chip.clock": 2e9}) is ipu("GC200", {"chip.clock": 2e9})
    assert ipu("GC200", {}) is ipu("GC200")


@pytest.mark.parametrize(
    "name",
    ["chip.colour", "clock", "planner.indices_of_tile", "tile.interleaved_region", "codelet.amp_code", "fitted.magic"],
)
def test_a_constant_that_is_not_there_is_refused_with_those_that_are(name: str) -> None:
    with pytest.raises(SimulatorError, match=r"fitted\.matrix") as refused:
        ipu("GC200", {name: 2.0})
    assert refused.value.code == "machine.constant_unknown"
    assert refused.value.params["constant"] == name


@pytest.mark.parametrize(("name", "value"), [("tile.count", 1e9), ("tile.count", 12.5), ("tile.memory", 1e12)])
def test_a_count_must_be_whole_and_bounded(name: str, value: float) -> None:
    with pytest.raises(SimulatorError, match="whole number") as refused:
        ipu("GC200", {name: value})
    assert refused.value.code == "machine.constant_invalid"


def test_a_chip_that_is_not_there_is_refused() -> None:
    with pytest.raises(SimulatorError, match="GC200") as refused:
        ipu("GC300")
    assert refused.value.code == "machine.chip_unknown"


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
        ("ipus:2", None, ("m2000", 2)),
        ("ipus:512", None, ("pod65536", 512)),
        ("ipus:65536", None, ("pod65536", 65_536)),
        ("bow:32", None, ("bowpod64", 32)),
        ("C600:4", None, ("c600x8", 4)),
        ("gc2:1", None, ("c2", 1)),
        ("Bow-Pod16", None, ("bowpod16", 16)),
        ("IPU-POD 256", 128, ("pod256", 128)),
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
        ("ipus:6", None, "system.size"), ("ipus:131072", None, "system.size"), ("c600:16", None, "system.size"),
        ("ipus:8", 4, "system.size"),
        ("ipus:0", None, "system.size"), ("ipus:", None, "system.unknown"), ("ipus:-8", None, "system.unknown"),
    ],
)  # fmt: skip
def test_a_number_that_is_no_partition_is_refused(name: str, ipus: int | None, code: str) -> None:
    with pytest.raises(SimulatorError) as refused:
        slice_of(name, ipus)
    assert refused.value.code == code


@pytest.mark.parametrize("clock", [1.0, 1e15, 1e300])
def test_a_variant_is_a_machine_of_the_same_kind(clock: float) -> None:
    with pytest.raises(SimulatorError, match="chip.clock") as refused:
        ipu("GC200", {"chip.clock": clock})
    assert refused.value.code == "machine.constant_invalid"
    assert ipu("GC200", {"chip.clock": 5e9}).clock_hz == 5e9
