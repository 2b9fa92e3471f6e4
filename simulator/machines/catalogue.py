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
        f"There is no system '{name:.60}'. Use one of {names}.",
        params={"system": name[:60], "known": names},
    )
