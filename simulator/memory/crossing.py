"""Room that tiles need for what crosses between IPUs: fragments of sums on their way, and copies of what is summed.

How long the crossings take is in ``schedule``; when their room is needed is in ``tilemap``.
"""

from __future__ import annotations

from simulator.graph.graph import Graph
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.schedule.collectives import PHASES, ring_of, steps_of, summed_gradients
from simulator.units import Bytes, ceil_div

PAIR = 2  # a fragment that is sent and one that is received


def summing_bytes(graph: Graph, parallel: Parallel, ipu: Ipu) -> Bytes:
    """Bytes of an IPU that sums its gradients over replicas, one after the other: room for the largest.

    PopLibs sums in place through a fragment to send and one to receive, a pair for each way round where they meet in
    the middle. PopART first copies a gradient that is scattered into the order of its shards, and gathers the weight
    beside the old one.
    """
    amount = max(summed_gradients(graph), default=0) if parallel.training and parallel.replicas > 1 else 0
    if not amount:
        return 0
    ring = ring_of(parallel, ipu)
    meeting = ring.both_ways and steps_of(PHASES[0], ring, amount, ipu) < ring.ranks - 1
    fragments = 2 * PAIR if meeting else PAIR
    return fragments * ceil_div(amount, ring.ranks) + (amount if parallel.shard_optimiser else 0)


def joining_bytes(joined: Bytes, width: int) -> Bytes:
    """Bytes of an IPU while the ``width`` IPUs of a stage sum ``joined`` bytes each, in place."""
    return PAIR * ceil_div(joined, width) if joined and width > 1 else 0
