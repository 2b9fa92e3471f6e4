"""Transfers between host and IPUs: what crosses in a step, what the hosts must prepare, and who waits for whom.

Inputs that are ready ahead lie in the memory of the machine's gateway, from which IPUs read; preparing them and sending
them there happens meanwhile, and holds the IPUs up only when it takes longer than their step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from simulator.graph.graph import Graph, Role
from simulator.machines.constants import NOMINAL, Constants
from simulator.machines.facts import Side
from simulator.machines.ipu import Ipu
from simulator.parallel.feeding import picture_pixels
from simulator.parallel.replicas import Parallel
from simulator.schedule.outside import Outside, cycles_of, external_sync
from simulator.units import Bytes, Cycles, Seconds


def host_bytes(graph: Graph) -> tuple[Bytes, Bytes]:
    """Bytes that ``graph`` receives from and sends to the host when it runs once."""
    roles = graph.tensors.role
    roots = graph.tensors.alias_of < 0
    given = roots & ((roles == Role.INPUT) | (roles == Role.LABEL))
    return int(graph.tensors.bytes[given].sum()), int(graph.tensors.bytes[roles == Role.OUTPUT].sum())


@dataclass(frozen=True)
class Traffic:
    """What one replica has to do with the host in a micro-batch, and its optimiser state in a step.

    ``pixels``: of pictures to decode to bytes; ``float_pixels``: of those that the host also casts and normalises.
    ``state``: bytes, and tensors that hold them, of the IPU with most.
    """

    received: Bytes
    sent: Bytes
    pixels: int
    float_pixels: int
    state: tuple[Bytes, int] = (0, 0)
    weights: int = 0


def traffic_of(graphs: Sequence[Graph]) -> Traffic:
    """The traffic of the IPUs of a replica."""
    both = [host_bytes(graph) for graph in graphs]
    return Traffic(
        sum(received for received, _ in both),
        sum(sent for _, sent in both),
        sum(picture_pixels(graph, floats=False) for graph in graphs),
        sum(picture_pixels(graph, floats=True) for graph in graphs),
        max(map(state_bytes, graphs)),
        sum(len(graph.gradients) for graph in graphs),
    )


def sharing_of(parallel: Parallel, ipu: Ipu) -> int:
    """Replicas that share the links and the memory of one machine."""
    return max(1, min(parallel.ipus, ipu.whole("links.ipus_of_machine")) // parallel.ipus_per_replica)


def host_transfer(
    name: str, amount: Bytes, parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL
) -> Outside:
    """Bytes of one replica in a step between its IPUs and the gateway (a card: the host), and a call of the host.

    The host is called once a step, in training once for every ``device_iterations`` steps.
    """
    ready = parallel.feed.ahead > 0 and parallel.system.streaming_bytes > 0
    rate = ipu.fact("streaming.rate", side) if ready else ipu.fact("host.link")
    seconds = amount * sharing_of(parallel, ipu) / rate
    call = ipu.fact("host.call", side) + parallel.feed.call_seconds
    seconds += call / (parallel.device_iterations if parallel.training else 1)
    return Outside(name, amount, cycles_of(seconds * constants.host, ipu), external_sync(parallel.ipus, ipu))


def beside_compute(events: tuple[Outside, ...], computing: Cycles, parallel: Parallel, ipu: Ipu) -> tuple[Outside, ...]:
    """``events`` as the step sees them: where tiles are set aside for input and output, inference moves other batches
    during its ``computing`` cycles, and only what takes longer is left."""
    if parallel.training or not ipu.fact("host.io_tiles"):
        return events
    left: list[Outside] = []
    for event in events:
        hidden = min(computing, event.transfer)
        computing -= hidden
        left.append(replace(event, transfer=event.transfer - hidden))
    return tuple(left)


def interpreter(parallel: Parallel, ipu: Ipu, constants: Constants = NOMINAL) -> Outside | None:
    """The main process works on each sample that it hands over to train on; IPUs wait. None for no work."""
    handed = parallel.training and not parallel.feed.on_device
    seconds = ipu.fact("host.sample") * parallel.samples if handed else 0.0
    return Outside("interpreter", 0, cycles_of(seconds * constants.host, ipu), 0) if seconds else None


def optimiser_settings(weights: int, parallel: Parallel, ipu: Ipu, constants: Constants = NOMINAL) -> Outside | None:
    """The host writes the optimiser's settings of each weight before a call, where the framework has it do so."""
    seconds = weights * parallel.feed.weight_seconds / parallel.device_iterations * constants.optimiser_host
    return Outside("optimiser settings", 0, cycles_of(seconds, ipu), 0) if seconds else None


def supply_seconds(
    traffic: Traffic, parallel: Parallel, ipu: Ipu, side: Side = "value", constants: Constants = NOMINAL
) -> Seconds:
    """Time in which the hosts prepare and send the inputs of one step: the slowest of loaders and links."""
    if parallel.feed.on_device:
        return 0.0
    received = traffic.received * parallel.micro_batches
    link, feed = ipu.fact("host.link"), parallel.feed
    preparing = traffic.pixels / ipu.fact("host.pixels_of_worker", side)
    preparing += traffic.float_pixels / ipu.fact("host.float_pixels_of_worker", side)
    busy = min(feed.workers, ipu.whole("host.cores")) * feed.hosts  # processes that have a core
    preparing *= parallel.micro_batches * parallel.replicas / busy if busy else 0
    of_machine = received * sharing_of(parallel, ipu) / link
    of_host = received * parallel.replicas / (ipu.fact("host.network") * feed.hosts)
    return max(preparing, of_machine, of_host) * constants.host


def supply_wait(supply: Seconds, busy: Cycles, parallel: Parallel, ipu: Ipu) -> Outside | None:
    """Cycles in which the IPUs wait for inputs when they are ``busy`` for the rest of a step. None when they do not."""
    cycles = cycles_of(supply, ipu)
    waiting = cycles - busy if parallel.feed.ahead > 0 else cycles
    return Outside("waiting for the host", 0, waiting, 0) if waiting > 0 else None


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
