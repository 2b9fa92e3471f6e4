"""Sums over replicas: ring reduce-scatter and all-gather over IPU-Links, and over GW-Links between link domains."""

from __future__ import annotations

from dataclasses import replace

from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.facts import Side
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.planner.reduction import reduce_add_cycles
from simulator.planner.shares import spread
from simulator.schedule.outside import Outside, cycles_of, external_sync
from simulator.units import Bytes, Cycles


def ring_rate(ranks: int, ipu: Ipu, side: Side = "value") -> float:
    """Bytes a second that one IPU sends in a ring of ``ranks`` inside a link domain."""
    link = ipu.fact("links.ipu_link") * ipu.fact("links.ipu_link_efficiency", side)
    if ranks <= 2:
        return link * ipu.fact("links.links_of_pair")
    return link * ipu.fact("links.links_of_ring") * ipu.fact("links.ring_directions", side)


def all_reduce(
    amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL
) -> Outside:
    """Ring reduce-scatter and all-gather of ``amount`` bytes a replica; between domains the shards go over GW-Links.

    Inside a domain of d IPUs each sends 2 (d-1)/d of the bytes in 2 (d-1) steps; D domains then sum a d-th of them.
    """
    domains = parallel.link_domains
    ranks = max(1, parallel.replicas // domains)
    seconds = 2 * (ranks - 1) / ranks * amount / ring_rate(ranks, ipu, side) * constants.link
    crossing = 2 * (ranks - 1) * amount // ranks
    steps = 2 * (ranks - 1)
    if domains > 1:
        gateway = ipu.fact("links.gw_link") / ipu.fact("links.ipus_of_machine")
        shard = amount / ranks
        seconds += 2 * (domains - 1) / domains * shard / gateway * constants.gateway
        seconds += 2 * (domains - 1) * ipu.fact("links.gw_hop", side) * constants.gateway
        crossing += 2 * (domains - 1) * amount // (ranks * domains)
        steps += 2 * (domains - 1)
    return Outside(
        "all-reduce",
        crossing,
        cycles_of(seconds, ipu),
        steps * external_sync(parallel.ipus, ipu),
        (ranks - 1 + domains - 1) * _add_cycles(amount // ranks, ipu),
    )


def in_halves(whole: Outside) -> tuple[Outside, Outside]:
    """An all-reduce as what it is made of: gradients scattered before the update, weights gathered after it."""
    half = replace(
        whole, name="reduce-scatter", bytes=whole.bytes // 2, transfer=whole.transfer // 2, sync=whole.sync // 2
    )
    rest = Outside(
        "all-gather", whole.bytes - half.bytes, whole.transfer - half.transfer, whole.sync - half.sync
    )  # fmt: skip
    return half, rest


def _add_cycles(amount: Bytes, ipu: Ipu) -> Cycles:
    """Adding a received shard to the own one, spread over all tiles."""
    elements = spread(max(1, amount // 4), ipu.tiles, ipu.tiles)
    return int(reduce_add_cycles(2, elements, False, ipu).max())
