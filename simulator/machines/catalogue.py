"""The systems one can ask for, and which sizes of slice each allows. Who has booked which is the portal's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from simulator.errors import SimulatorError
from simulator.machines.facts import read_yaml
from simulator.machines.ipu import Ipu, ipu

HOST_WATTS = 900.0  # a dual-socket host: 800 to 1,000 W by the estimate of ServeTheHome
BARE = {"ipus": "GC200", **{chip: chip for chip in ("gc2", "gc200", "bow", "c600")}}  # "bow:32": a bare number of IPUs
LETTERS_LEFT_OUT = str.maketrans("", "", "-_ ")


@dataclass(frozen=True)
class System:
    """A cluster of IPU-Machines or cards. ``allowed_sizes`` are the partitions that can be cut: powers of two.

    ``streaming_bytes``, ``price_usd`` and ``watts`` are of one machine without its host; no price is None.
    ``topology`` is how IPU-Links of one domain run: "single", "ladder" or "torus".
    """

    id: str
    name: str
    chip: str
    ipus: int
    machines: int
    hosts: int
    host_cpus: int
    topology: str
    streaming_bytes: int
    price_usd: float | None
    watts: float
    sources: tuple[str, ...]

    @property
    def ipu(self) -> Ipu:
        return ipu(self.chip)

    def variant(self, overrides: Mapping[str, float]) -> Ipu:
        """Its chip with constants changed by name; see ``ipu``."""
        return ipu(self.chip, overrides)

    @property
    def ipus_of_machine(self) -> int:
        return self.ipus // self.machines

    @property
    def allowed_sizes(self) -> tuple[int, ...]:
        return tuple(2**power for power in range(self.ipus.bit_length()) if 2**power <= self.ipus)

    @property
    def link_domains(self) -> int:
        """IPU-Link domains: islands of up to 64 IPUs, joined by GW-Links."""
        return -(-self.ipus // self.ipu.whole("links.domain_ipus"))

    def machines_for(self, ipus: int) -> int:
        """Machines that a slice of ``ipus`` takes part of."""
        return -(-ipus // self.ipus_of_machine)

    def hosts_for(self, ipus: int) -> int:
        """Hosts that serve a slice when nobody says how many: in proportion, at least one."""
        return max(1, self.hosts * ipus // self.ipus)

    def watts_for(self, ipus: int, hosts: int | None = None) -> float:
        """Watts of the machines and hosts of a slice."""
        return self.machines_for(ipus) * self.watts + (hosts or self.hosts_for(ipus)) * HOST_WATTS

    def price_for(self, ipus: int) -> float | None:
        """List price of the machines of a slice in USD, hosts apart; None where no price is known."""
        return None if self.price_usd is None else self.machines_for(ipus) * self.price_usd

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "chip": self.chip,
            "ipus": self.ipus,
            "machines": self.machines,
            "hosts": self.hosts,
            "host_cpus": self.host_cpus,
            "topology": self.topology,
            "streaming_bytes": self.streaming_bytes,
            "price_usd": self.price_for(self.ipus),
            "watts": self.watts_for(self.ipus),
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
    found = [_read(key, entry) for key, entry in read_yaml("systems.yaml").items()]
    return tuple(sorted(found, key=lambda system: system.ipus))


def _read(key: str, entry: dict[str, Any]) -> System:
    pairs = {name: given for name, given in entry.items() if isinstance(given, list)}
    number = {name: value for name, (value, _) in pairs.items()}
    number["streaming_bytes"] = int(number["streaming_bytes"])
    sources = tuple(f"{name}: {source}" for name, (_, source) in pairs.items())
    return System(key, entry["name"], entry["chip"], **number, sources=sources)


def system(name: str) -> System:
    """The system called ``name`` ("pod16", "IPU-POD16"). Raises ``system.unknown`` with the names there are."""
    plain = name.lower().translate(LETTERS_LEFT_OUT)
    for found in systems():
        if plain in (found.id, f"ipu{found.id}"):
            return found
    names = ", ".join(found.id for found in systems())
    raise SimulatorError(
        "system.unknown",
        f"There is no system '{name:.60}'. Use one of {names}, or ipus:N, bow:N, gc2:N, c600:N.",
        params={"system": name[:60], "known": names},
    )


def slice_of(name: str, ipus: int | None) -> tuple[System, int]:
    """The system and the IPUs that are meant: all of it when ``ipus`` is None.

    ``ipus:N`` is the smallest system of GC200 that has N; ``bow:N``, ``gc2:N``, ``c600:N`` those of other chips.
    Raises ``system.unknown``, or ``system.size`` for a number that is no partition.
    """
    bare = _bare_size(name)
    if bare is None:
        found = system(name)
        ipus = found.ipus if ipus is None else ipus
    elif ipus not in (None, bare[1]):
        raise _no_such_size(f"'{name}' contradicts a slice of {ipus} IPUs. Leave one of them out.", name, ipus, ())
    else:
        chip, ipus = bare
        same = [each for each in systems() if each.ipu.chip.lower() == chip.lower()]
        found = next((each for each in same if each.ipus >= ipus), same[-1])
    if ipus not in found.allowed_sizes:
        sizes = ", ".join(str(size) for size in found.allowed_sizes)
        text = f"{found.name} has no partition of {ipus} IPUs. Ask for one of {sizes}."
        raise _no_such_size(text, found.id, ipus, found.allowed_sizes)
    return found, ipus


def _bare_size(name: str) -> tuple[str, int] | None:
    prefix, _, number = name.lower().partition(":")
    if prefix in BARE and number.isascii() and number.isdecimal() and len(number) < 7:
        return BARE[prefix], int(number)
    return None


def _no_such_size(text: str, name: str, ipus: int | None, allowed: tuple[int, ...]) -> SimulatorError:
    return SimulatorError("system.size", text, params={"system": name[:60], "ipus": ipus, "allowed": list(allowed)})
