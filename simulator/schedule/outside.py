"""What a step spends outside the chip: all-reduce over IPU-Links and GW-Links, host transfers, external sync."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from simulator.machines.facts import Side, fact, whole
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.planner.reduction import reduce_add_cycles
from simulator.planner.shares import spread
from simulator.units import Bytes, Cycles, Seconds


@dataclass(frozen=True)
class Outside:
    """One event that leaves the chip. ``bytes`` cross the edge of one IPU; cycles are of its clock."""

    name: str
    bytes: Bytes
    transfer: Cycles
    sync: Cycles
    compute: Cycles = 0

    @property
    def total(self) -> Cycles:
        return self.transfer + self.sync + self.compute


def cycles_of(seconds: Seconds, ipu: Ipu) -> Cycles:
    """Whole cycles that cover ``seconds``; the rounding keeps 675.75 from becoming 677."""
    return ceil(round(seconds * ipu.clock_hz, 6))


def external_sync(ipus: int, ipu: Ipu) -> Cycles:
    """A sync of ``ipus`` IPUs: 15 ns a hop, 1 + ipus // 4 hops, there and back (PopLibs)."""
    return cycles_of(fact("sync.external_hop") * (1 + ipus // 4) * 2, ipu)


def ring_rate(ranks: int, side: Side = "value") -> float:
    """Bytes a second that one IPU sends in a ring of ``ranks`` inside a link domain."""
    link = fact("links.ipu_link") * fact("links.ipu_link_efficiency", side)
    if ranks <= 2:
        return link * fact("links.links_of_pair")
    return link * fact("links.links_of_ring") * fact("links.ring_directions", side)


def all_reduce(amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side = "value") -> Outside:
    """Ring reduce-scatter and all-gather of ``amount`` bytes a replica; between domains the shards go over GW-Links.

    Inside a domain of d IPUs each sends 2 (d-1)/d of the bytes in 2 (d-1) steps; D domains then sum a d-th of them.
    """
    domains = parallel.link_domains
    ranks = parallel.ipus // domains
    seconds = 2 * (ranks - 1) / ranks * amount / ring_rate(ranks, side)
    crossing = 2 * (ranks - 1) * amount // ranks
    steps = 2 * (ranks - 1)
    if domains > 1:
        gateway = fact("links.gw_link") / fact("links.ipus_of_machine")
        shard = amount / ranks
        seconds += 2 * (domains - 1) / domains * shard / gateway + 2 * (domains - 1) * fact("links.gw_hop", side)
        crossing += 2 * (domains - 1) * amount // (ranks * domains)
        steps += 2 * (domains - 1)
    return Outside(
        "all-reduce",
        crossing,
        cycles_of(seconds, ipu),
        steps * external_sync(parallel.ipus, ipu),
        (ranks - 1 + domains - 1) * _add_cycles(amount // ranks, ipu),
    )


def _add_cycles(amount: Bytes, ipu: Ipu) -> Cycles:
    """Adding a received shard to the own one, spread over all tiles."""
    elements = spread(max(1, amount // 4), ipu.tiles, ipu.tiles)
    return int(reduce_add_cycles(2, elements, False, ipu).max())


def host_transfer(name: str, amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side = "value") -> Outside:
    """Bytes between the host and one IPU; the IPUs of a machine share its link, and all wait for the slowest."""
    sharing = min(parallel.ipus, whole("links.ipus_of_machine"))
    seconds = amount * sharing / fact("host.link") + fact("host.call", side)
    return Outside(name, amount, cycles_of(seconds, ipu), external_sync(parallel.ipus, ipu))
