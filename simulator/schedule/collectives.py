"""Sums over replicas: ring reduce-scatter and all-gather over IPU-Links, and over GW-Links between link domains.

Every step of a ring is a superstep: all wait for the slowest link. Rings of the IPUs of one replica share the links of
the ladder. Methods and thresholds are those of PopLibs' collectives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from simulator.graph.graph import Graph, Pass
from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.facts import Side
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.planner.reduction import reduce_add_cycles
from simulator.planner.shares import Ints, spread
from simulator.schedule.outside import Outside, cycles_of, external_sync
from simulator.units import Bytes, Cycles

TORUS_IPUS = 64  # loop-back cables close the ladder of a whole POD64
LARGEST_RING = 4  # domains of the largest system with published results, a POD256
PHASES = ("reduce-scatter", "all-gather")


def summed_gradients(graph: Graph) -> list[Bytes]:
    """Bytes of each gradient that an IPU hands to the sum over replicas: those of the weights that it updates."""
    tensors, ops = graph.tensors, graph.ops
    updates = np.flatnonzero(ops.pass_ == Pass.UPDATE).tolist()
    updated = {tensors.root(t) for i in updates for t in ops.outputs[i]}
    pairs = {tensors.root(w): tensors.root(g) for w, g in graph.gradients}
    return [int(tensors.bytes[gradient]) for weight, gradient in pairs.items() if weight in updated]


def merged(gradients: Sequence[Bytes], ipu: Ipu) -> list[Bytes]:
    """Bytes of each sum over replicas: of ``collectives.gradients_of_sum`` gradients in their order, or of all (0)."""
    most = ipu.whole("collectives.gradients_of_sum") or len(gradients)
    return [sum(gradients[first : first + most]) for first in range(0, len(gradients), most)]


def one_after_another(events: Sequence[Outside]) -> Outside:
    """Several events of a kind as one."""
    return replace(
        events[0],
        bytes=sum(each.bytes for each in events),
        transfer=sum(each.transfer for each in events),
        sync=sum(each.sync for each in events),
        compute=sum(each.compute for each in events),
        times=sum(each.times for each in events),
    )


@dataclass(frozen=True)
class Ring:
    """How the IPUs at one place of all replicas are joined. ``rate``: bytes a second that one of them sends.

    ``both_ways``: half of the data goes round each way at once.
    """

    ranks: int
    domains: int
    rate: float
    both_ways: bool


def ring_of(parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL) -> Ring:
    """The ring of one IPU of a replica, with the slowest link in it."""
    ranks, width = parallel.replicas, parallel.ipus_per_replica
    closed = parallel.system.topology == "torus" and parallel.ipus >= TORUS_IPUS
    both_ways = ranks > 2 and (width == 1 or closed)
    link = ipu.fact("links.ipu_link") * ipu.fact("links.ipu_link_efficiency", side) / constants.link
    if width == 1 and ranks <= 2:
        rate = link * ipu.fact("links.links_of_pair")
    else:
        sharing = max(1.0, width / 2)  # a rung has two columns
        directions = ipu.fact("links.ring_directions", side) if both_ways else 1
        rate = link * ipu.fact("links.links_of_ring") * directions / sharing
    domains = parallel.link_domains
    if domains > 1:
        rate = min(rate, gateway_rate(width, ipu))
    return Ring(ranks, domains, rate, both_ways)


def gateway_rate(width: int, ipu: Ipu) -> float:
    """Bytes a second of one ring where it leaves a domain: ``width`` rings pass at the machines of one replica.

    Both GW-Links of a machine reach the next domain: two domains are cabled to each other, more go through switches.
    """
    return ipu.fact("links.gw_link") / min(width, ipu.fact("links.ipus_of_machine"))


def steps_of(phase: str, ring: Ring, amount: Bytes, ipu: Ipu) -> int:
    """Supersteps of one phase: half way round when two fragments meet in the middle, else all the way."""
    if not ring.both_ways:
        return ring.ranks - 1
    sizes = [size for size in (4, 8, 16) if ring.ranks <= size]
    small = not sizes or amount < ipu.whole(f"collectives.{phase.replace('-', '_')}_{sizes[0]}")
    return ceil(ring.ranks / 2) if small else ring.ranks - 1


def collective(
    phase: str, amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL
) -> Outside:
    """One of ``PHASES`` over all replicas, of ``amount`` bytes an IPU: each sends (r-1)/r of them.

    Published systems have up to four domains and behave as one ring. Larger ones are taken to sum in two levels, in the
    domains and then between them, and never faster than the largest that was published.
    """
    if parallel.link_domains <= LARGEST_RING:
        return _one_ring(phase, amount, parallel, ipu, side, constants)
    domain = ipu.whole("links.domain_ipus")
    known = _one_ring(phase, amount, replace(parallel, ipus=LARGEST_RING * domain), ipu, side, constants)
    found = _two_levels(phase, amount, parallel, ipu, side, constants)
    return max(known, found, key=lambda each: each.total)


def _two_levels(phase: str, amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side, constants: Constants) -> Outside:
    """A ring in each domain, then one of domains for each share of the data, on every machine's gateways at once."""
    inside = _one_ring(phase, amount, replace(parallel, ipus=ipu.whole("links.domain_ipus")), ipu, side, constants)
    domains, ranks = parallel.link_domains, parallel.replicas // parallel.link_domains
    steps = ceil(domains / 2)
    crossing = (domains - 1) * (amount // ranks) // domains
    rate = gateway_rate(ipu.whole("links.ipus_of_machine"), ipu)
    seconds = crossing / rate + steps * ipu.fact("links.gw_hop", side)
    return replace(
        inside,
        bytes=inside.bytes + crossing,
        transfer=inside.transfer + cycles_of(seconds, ipu),
        sync=inside.sync + steps * external_sync(parallel.ipus, ipu),
        times=inside.times + steps,
    )


def _one_ring(phase: str, amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side, constants: Constants) -> Outside:
    ring = ring_of(parallel, ipu, side, constants)
    steps = steps_of(phase, ring, amount, ipu)
    sent = (ring.ranks - 1) * amount // ring.ranks
    seconds = sent / ring.rate
    if ring.domains > 1:
        seconds += steps * ipu.fact("links.gw_hop", side)
    added = (ring.ranks - 1) * _add_cycles(amount // ring.ranks, ipu) if phase == PHASES[0] else 0
    return Outside(phase, sent, cycles_of(seconds, ipu), steps * external_sync(parallel.ipus, ipu), added, times=steps)


def all_reduce(
    amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL
) -> Outside:
    """Both phases one after the other: gradients of ``amount`` bytes an IPU, summed over replicas."""
    first, second = (collective(phase, amount, parallel, ipu, side, constants) for phase in PHASES)
    return replace(
        first,
        name="all-reduce",
        bytes=first.bytes + second.bytes,
        transfer=first.transfer + second.transfer,
        sync=first.sync + second.sync,
        times=first.times + second.times,
    )


def joined_cycles(amounts: Ints, width: int, ipu: Ipu, constants: Constants = NOMINAL) -> Ints:
    """Cycles of summing ``amounts`` bytes over the ``width`` IPUs of a stage and giving all the sum; 0 for nothing."""
    if width == 1:
        return np.zeros_like(amounts)
    link = ipu.fact("links.ipu_link") * ipu.fact("links.ipu_link_efficiency") / constants.link
    links = ipu.fact("links.links_of_pair") if width == 2 else 2 * ipu.fact("links.links_of_ring")
    steps = 2 * (width - 1)
    sent = np.ceil(steps / width * amounts / (link * links) * ipu.clock_hz)
    return np.where(amounts > 0, sent + steps * external_sync(width, ipu), 0).astype(np.int64)


def _add_cycles(amount: Bytes, ipu: Ipu) -> Cycles:
    """Adding a received shard to the own one, spread over all tiles."""
    elements = spread(max(1, amount // 4), ipu.tiles, ipu.tiles)
    return int(reduce_add_cycles(2, elements, False, ipu).max())
