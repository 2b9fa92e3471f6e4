"""One event that leaves the chip, and what its barrier takes. What the events are is in ``collectives``, ``host``."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

from simulator.machines.ipu import Ipu
from simulator.units import Bytes, Cycles, Seconds


@dataclass(frozen=True)
class Outside:
    """``bytes`` cross the edge of one IPU; cycles are of its clock, over all ``times`` that it happens in a step."""

    name: str
    bytes: Bytes
    transfer: Cycles
    sync: Cycles
    compute: Cycles = 0
    times: int = 1

    @property
    def total(self) -> Cycles:
        return self.transfer + self.sync + self.compute


def cycles_of(seconds: Seconds, ipu: Ipu) -> Cycles:
    """Whole cycles that cover ``seconds``; the rounding keeps 675.75 from becoming 677."""
    return ceil(round(seconds * ipu.clock_hz, 6))


def external_sync(ipus: int, ipu: Ipu) -> Cycles:
    """A sync of ``ipus`` IPUs: 15 ns a hop, 1 + ipus // 4 hops, there and back (PopLibs).

    Beyond a link domain, gateways pass it on in a tree of domains.
    """
    domain = ipu.whole("links.domain_ipus")
    seconds = ipu.fact("sync.external_hop") * (1 + min(ipus, domain) // 4)
    if ipus > domain:
        seconds += ipu.fact("links.gw_hop") * ceil(log2(ceil(ipus / domain)))
    return cycles_of(2 * seconds, ipu)
