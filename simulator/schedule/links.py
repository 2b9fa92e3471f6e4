"""Copies between IPUs of one replica over IPU-Links: which links they take, and how long the busiest one needs.

The IPUs of a replica are rungs of a ladder: 2k and 2k + 1 are a pair with links of its own, columns have links up and
down. Collectives between replicas are in ``collectives``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from simulator.graph.graph import Pass
from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.ipu import Ipu
from simulator.parallel.subgraphs import Hop
from simulator.schedule.outside import Outside, cycles_of, external_sync
from simulator.schedule.pipelining import Copies
from simulator.units import Seconds

SHARED = "shared weights"  # the event of copies that happen once a step
Link = tuple[int, int]  # from one IPU of the replica to its neighbour


def route(source: int, target: int) -> list[Link]:
    """Links from IPU to IPU: along the column of the source to the row of the target, then across the pair."""
    step = 2 if target // 2 > source // 2 else -2
    rows = list(range(source, target // 2 * 2 + source % 2 + step, step)) if source // 2 != target // 2 else [source]
    way = [*rows, target] if rows[-1] != target else rows
    return list(pairwise(way))


def link_seconds(link: Link, amount: float, ipu: Ipu, constants: Constants = NOMINAL) -> Seconds:
    """Time of ``amount`` bytes over one link of the ladder."""
    paired = link[0] // 2 == link[1] // 2
    count = ipu.fact("links.links_of_pair" if paired else "links.links_of_ring")
    return amount * constants.link / (ipu.fact("links.ipu_link") * ipu.fact("links.ipu_link_efficiency") * count)


def stage_copies(
    hops: Iterable[Hop], stage_ipus: tuple[int, ...], width: int, ipu: Ipu, constants: Constants = NOMINAL
) -> Copies:
    """Loads of the copies of a pipeline cycle. ``width``: IPUs of a stage, which share its bytes."""
    links: dict[Link, int] = {}
    loads: list[tuple[bool, int, int, float]] = []
    for hop in hops:
        if hop.pass_ == Pass.UPDATE:
            continue
        for link in route(stage_ipus[hop.source] * width, stage_ipus[hop.target] * width):
            column = links.setdefault(link, len(links))
            seconds = link_seconds(link, hop.bytes / width, ipu, constants)
            loads.append((hop.pass_ == Pass.FORWARD, hop.source, column, seconds * ipu.clock_hz))
    up, down = (np.zeros((len(stage_ipus), max(1, len(links)))) for _ in range(2))
    for forwards, stage, column, cycles in loads:
        (up if forwards else down)[stage, column] += cycles
    return Copies(up, down, external_sync((max(stage_ipus) + 1) * width, ipu))


def once_a_step(
    hops: Iterable[Hop], stage_ipus: tuple[int, ...], width: int, ipu: Ipu, constants: Constants = NOMINAL
) -> Outside | None:
    """Copies of the update: gradients and new values of weights that several IPUs share. None when there are none."""
    late = [hop for hop in hops if hop.pass_ == Pass.UPDATE]
    if not late:
        return None
    loads: dict[Link, float] = {}
    for hop in late:
        for link in route(stage_ipus[hop.source] * width, stage_ipus[hop.target] * width):
            loads[link] = loads.get(link, 0.0) + link_seconds(link, hop.bytes / width, ipu, constants)
    sync = external_sync((max(stage_ipus) + 1) * width, ipu)
    largest = max(hop.bytes for hop in late)
    return Outside(SHARED, largest, cycles_of(max(loads.values()), ipu), sync)
