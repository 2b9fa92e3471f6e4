"""One IPU as every stage sees it, with what a run changes of its constants. Systems are in ``catalogue``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from simulator.errors import SimulatorError
from simulator.machines import constants
from simulator.machines.facts import Fact, Side, fact_of, facts, read_yaml

FIXED_SECTIONS = ("planner", "codelet")  # thresholds of our own model: not the machine's to change
DERIVED = "tile.interleaved_region"  # what tile.standard_region leaves of tile.memory
COUNTED = ("tiles", "B", "contexts", "units", "IPUs", "links", "rings", "words", "instructions", "cycles")
COUNTED_RATES = ("B/cycle", "B/cycle/tile")
MOST_TILES = 16_384
LARGEST_COUNT = 2**31 - 1
MOST_CHANGE = 1000.0  # a variant is a machine of the same kind


@dataclass(frozen=True, eq=False)
class Ipu:
    """Constants of a chip. Bytes are of one tile, rates of one tile and cycle, unless the name says otherwise.

    ``ipu`` makes one object for each chip and variant, so objects are equal when they are the same.
    """

    chip: str
    clock_hz: float
    tiles: int
    bytes_per_tile: int
    workers: int
    atom_bytes: int
    mapping_minimum_bytes: int
    exchange_bytes_per_cycle: int
    paired_bytes_per_cycle: int
    exchange_skew_cycles: int
    sync_cycles: int
    weight_load_cycles: int
    copy_bytes_per_cycle: int
    copy_call_cycles: int
    known: Mapping[str, Fact] = field(repr=False)

    @property
    def superstep_cycles(self) -> int:
        """Fixed cost of the barrier and route skew of one superstep inside an IPU."""
        return self.sync_cycles + self.exchange_skew_cycles

    def fact(self, name: str, side: Side = "value") -> float:
        """The constant ``section.name`` of this chip or variant, or the bound that makes a step faster or slower."""
        number: float = getattr(self.known[name], side)
        return number

    def whole(self, name: str) -> int:
        """A constant that is a count (of bytes, cycles, tiles)."""
        return int(self.known[name].value)

    def amp_units(self, half: bool, half_partials: bool) -> int:
        """Units of the matrix unit that work at once on a pair of types."""
        kind = "mixed" if half and not half_partials else "half" if half else "single"
        return self.whole(f"amp.units_{kind}")


@lru_cache(maxsize=1)
def chips() -> dict[str, dict[str, Fact]]:
    """Constants of each chip by its name in capitals: those of ``chips.yaml`` over those of ``facts.yaml``."""
    common = facts()
    return {
        chip.upper() if chip != "bow" else "Bow": common | {name: fact_of(name, entry) for name, entry in own.items()}
        for chip, own in read_yaml("chips.yaml").items()
    }


def ipu(chip: str, overrides: Mapping[str, float] | None = None) -> Ipu:
    """The chip called ``chip`` ("GC200"), with ``overrides`` of constants by name ("chip.clock").

    Names that begin with "fitted." are not the chip's and are only checked. Raises ``machine.chip_unknown``,
    ``machine.constant_unknown`` or ``machine.constant_invalid``.
    """
    named = {name.upper(): name for name in chips()}
    if chip.upper() not in named:
        known = ", ".join(chips())
        raise SimulatorError(
            "machine.chip_unknown",
            f"There is no chip '{chip:.60}'. Use one of {known}.",
            params={"chip": chip[:60], "known": known},
        )
    return _variant(named[chip.upper()], tuple(sorted((overrides or {}).items())))


@lru_cache(maxsize=64)
def _variant(chip: str, overrides: tuple[tuple[str, float], ...]) -> Ipu:
    found = dict(chips()[chip])
    for constant, value in overrides:
        if constant.startswith(constants.PREFIX):
            constants.checked(constant)
        else:
            found[constant] = _changed(constant, value, found)
    return _built(chip, found)


def _built(chip: str, known: Mapping[str, Fact]) -> Ipu:
    def count(name: str) -> int:
        return int(known[name].value)

    return Ipu(
        chip=chip,
        clock_hz=known["chip.clock"].value,
        tiles=count("tile.count"),
        bytes_per_tile=count("tile.memory"),
        workers=count("tile.workers"),
        atom_bytes=count("tile.atom"),
        mapping_minimum_bytes=count("tile.mapping_minimum"),
        exchange_bytes_per_cycle=count("exchange.bytes_per_cycle"),
        paired_bytes_per_cycle=count("exchange.paired_bytes_per_cycle"),
        exchange_skew_cycles=count("exchange.skew"),
        sync_cycles=count("sync.internal"),
        weight_load_cycles=count("amp.weight_load"),
        copy_bytes_per_cycle=count("tile.copy_bytes_per_cycle"),
        copy_call_cycles=count("tile.copy_call"),
        known=known,
    )


def _changed(name: str, value: float, found: Mapping[str, Fact]) -> Fact:
    """The constant ``name`` at ``value``, its bounds moved along."""
    changeable = [each for each in found if each.split(".")[0] not in FIXED_SECTIONS and each != DERIVED]
    if name not in changeable:
        known = ", ".join(changeable)
        known += ", " + ", ".join(constants.PREFIX + each for each in constants.NAMES)
        raise SimulatorError(
            "machine.constant_unknown",
            f"There is no constant '{name:.60}' of the machine. Use one of {known}.",
            params={"constant": name[:60], "known": known},
        )
    old = found[name]
    if old.unit in COUNTED + COUNTED_RATES:
        most = MOST_TILES if name == "tile.count" else LARGEST_COUNT
        if value != int(value) or value > most:
            raise _illegal(name, value, f"a whole number up to {most}")
    elif old.value and not old.value / MOST_CHANGE <= value <= old.value * MOST_CHANGE:
        raise _illegal(name, value, f"a number from {old.value / MOST_CHANGE:g} to {old.value * MOST_CHANGE:g}")
    scale = value / old.value if old.value else 1.0
    return replace(
        old, value=value, low=old.low * scale, high=old.high * scale, confidence="given",
        source="set by the configuration of this run",
    )  # fmt: skip


def _illegal(name: str, value: float, legal: str) -> SimulatorError:
    params: dict[str, Any] = {"constant": name[:60], "value": value, "legal": legal}
    return SimulatorError(
        "machine.constant_invalid", f"The constant '{name:.60}' cannot be {value:g}. Use {legal}.", params=params
    )
