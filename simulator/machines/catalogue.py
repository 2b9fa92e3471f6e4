"""The systems one can ask for, and which sizes of slice each allows. Who has booked which is the portal's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simulator.errors import SimulatorError
from simulator.machines.facts import read_yaml, whole
from simulator.machines.ipu import Ipu, ipu


@dataclass(frozen=True)
class System:
    """A cluster of IPU-Machines. ``allowed_sizes`` are the partitions V-IPU can cut: powers of two up to all of it."""

    id: str
    name: str
    chip: str
    ipus: int
    machines: int
    sources: tuple[str, ...]

    @property
    def ipu(self) -> Ipu:
        return ipu(self.chip)

    @property
    def allowed_sizes(self) -> tuple[int, ...]:
        return tuple(2**power for power in range(self.ipus.bit_length()) if 2**power <= self.ipus)

    @property
    def link_domains(self) -> int:
        """IPU-Link domains: islands of up to 64 IPUs, joined by GW-Links."""
        return -(-self.ipus // whole("links.domain_ipus"))

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "chip": self.chip,
            "ipus": self.ipus,
            "machines": self.machines,
            "tiles_per_ipu": self.ipu.tiles,
            "bytes_per_tile": self.ipu.bytes_per_tile,
            "clock_hz": self.ipu.clock_hz,
            "allowed_sizes": list(self.allowed_sizes),
            "link_domains": self.link_domains,
            "sources": list(self.sources),
        }


@lru_cache(maxsize=1)
def systems() -> tuple[System, ...]:
    """Every system, smallest first."""
    found = [
        System(key, entry["name"], entry["chip"], entry["ipus"], entry["machines"], tuple(entry["sources"]))
        for key, entry in read_yaml("systems.yaml").items()
    ]
    return tuple(sorted(found, key=lambda system: system.ipus))


def system(name: str) -> System:
    """The system called ``name``. Raises ``system.unknown`` with the names there are."""
    for found in systems():
        if found.id == name.lower():
            return found
    names = ", ".join(found.id for found in systems())
    raise SimulatorError(
        "system.unknown",
        f"There is no system '{name:.60}'. Use one of {names}, or ipus:N.",
        params={"system": name[:60], "known": names},
    )


def slice_of(name: str, ipus: int | None) -> tuple[System, int]:
    """The system and the IPUs that are meant: all of it when ``ipus`` is None; ``ipus:N`` is the smallest that has N.

    Raises ``system.unknown``, or ``system.size`` for a number that is no partition.
    """
    wanted = _bare_size(name)
    if wanted is None:
        found = system(name)
        ipus = found.ipus if ipus is None else ipus
    elif ipus not in (None, wanted):
        raise _no_such_size(f"'{name}' contradicts a slice of {ipus} IPUs. Leave one of them out.", name, ipus, ())
    else:
        found = next((each for each in systems() if each.ipus >= wanted), systems()[-1])
        ipus = wanted
    if ipus not in found.allowed_sizes:
        sizes = ", ".join(str(size) for size in found.allowed_sizes)
        text = f"{found.name} has no partition of {ipus} IPUs. Ask for one of {sizes}."
        raise _no_such_size(text, found.id, ipus, found.allowed_sizes)
    return found, ipus


def _bare_size(name: str) -> int | None:
    prefix, _, number = name.lower().partition(":")
    return int(number) if prefix == "ipus" and number.isascii() and number.isdecimal() and len(number) < 7 else None


def _no_such_size(text: str, name: str, ipus: int | None, allowed: tuple[int, ...]) -> SimulatorError:
    return SimulatorError("system.size", text, params={"system": name[:60], "ipus": ipus, "allowed": list(allowed)})
