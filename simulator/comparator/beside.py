"""A simulated run set beside one GPU server doing the same step: as many samples, in micro-batches of the same size."""

from __future__ import annotations

from simulator.comparator.gpus import gpu
from simulator.comparator.roofline import OnGpus, on_gpus
from simulator.graph.graph import Graph
from simulator.machines.constants import Constants


def beside(
    graph: Graph, *, samples: float, sequences_in_pack: float, constants: Constants, name: str = "a100"
) -> OnGpus:
    """One server of ``name`` on a step of about ``samples`` samples; ``graph`` is one micro-batch of the whole model.

    Raises ``comparator.unknown``.
    """
    chosen = gpu(name)
    one = graph.batch * sequences_in_pack * chosen.of_server
    accumulation = max(1, round(samples / one)) if graph.training else 1
    return on_gpus(
        graph, chosen, gpus=chosen.of_server, samples=one * accumulation, constants=constants, accumulation=accumulation
    )
