"""Transfers between host and IPUs: what crosses in a step, and how long the slowest machine takes."""

from __future__ import annotations

import numpy as np

from simulator.graph.graph import Graph, Role
from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.facts import Side
from simulator.machines.ipu import Ipu
from simulator.parallel.replicas import Parallel
from simulator.schedule.outside import Outside, cycles_of, external_sync
from simulator.units import Bytes


def host_bytes(graph: Graph) -> tuple[Bytes, Bytes]:
    """Bytes that ``graph`` receives from and sends to the host when it runs once."""
    roles = graph.tensors.role
    roots = graph.tensors.alias_of < 0
    given = roots & ((roles == Role.INPUT) | (roles == Role.LABEL))
    return int(graph.tensors.bytes[given].sum()), int(graph.tensors.bytes[roles == Role.OUTPUT].sum())


def state_bytes(graph: Graph) -> tuple[Bytes, int]:
    """Bytes of optimiser state and the number of tensors that hold it."""
    held = (graph.tensors.role == Role.OPTIMISER_STATE) & (graph.tensors.alias_of < 0)
    return int(graph.tensors.bytes[held].sum()), int(np.count_nonzero(held))


def state_transfer(
    amount: Bytes, tensors: int, parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL
) -> Outside:
    """State of one IPU from streaming memory and back: the IPUs of a machine share its memory modules."""
    sharing = min(parallel.ipus, ipu.whole("links.ipus_of_machine"))
    seconds = 2 * amount * sharing / ipu.fact("streaming.rate", side) + 2 * tensors * ipu.fact("streaming.call", side)
    sync = 2 * tensors * external_sync(1, ipu)
    return Outside("optimiser state", 2 * amount, cycles_of(seconds * constants.host, ipu), sync, times=2 * tensors)


def host_transfer(
    name: str, amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL
) -> Outside:
    """Bytes of one replica in a step; the replicas of a machine share its link, and all wait for the slowest.

    The host is called once a step, in training once for every ``device_iterations`` steps.
    """
    machine = int(ipu.fact("links.ipus_of_machine"))
    sharing = max(1, min(parallel.ipus, machine) // parallel.ipus_per_replica)
    seconds = amount * sharing / ipu.fact("host.link")
    seconds += ipu.fact("host.call", side) / (parallel.device_iterations if parallel.training else 1)
    return Outside(name, amount, cycles_of(seconds * constants.host, ipu), external_sync(parallel.ipus, ipu))
