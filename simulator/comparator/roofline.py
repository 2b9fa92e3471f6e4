"""Time, energy and price of a graph on GPUs: each operator is bound by arithmetic, memory or its launch.

Formula of an operator: max(flops / (peak x ``gpu_matrix``), bytes / (rate x ``gpu_memory``)), rates documented, the two
fractions fitted to published A100 results. Launches run ahead of the device, so that a step takes the longer of all
launches and all operators. Gradients are summed in a ring while the backward pass runs; what is longer counts.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simulator.comparator.gpus import Gpu
from simulator.comparator.work import Work, work_of
from simulator.graph.graph import Graph
from simulator.machines.constants import Constants

SECONDS_PER_HOUR = 3600
LIFE_HOURS = 3 * 365 * 24  # a server is written off over three years of use
BACKWARD_SHARE = 2 / 3  # of a training step: the all-reduce hides behind it


@dataclass(frozen=True)
class OnGpus:
    """Seconds of one step of ``gpus`` devices; ``launched``: seconds that launching takes, ``reduced`` the ring."""

    step_seconds: float
    device_seconds: float
    launched_seconds: float
    reduced_seconds: float
    samples: float
    gpus: int
    gpu: Gpu

    @property
    def samples_per_second(self) -> float:
        return self.samples / self.step_seconds

    def to_dict(self) -> dict[str, Any]:
        """As the report shows it, simulated, with energy and price of a million samples."""
        servers = self.gpus / self.gpu.of_server
        million = 1e6 / self.samples_per_second
        return {
            "gpu": self.gpu.name,
            "gpus": self.gpus,
            "step_seconds": self.step_seconds,
            "samples_per_second": self.samples_per_second,
            "joules_per_million_samples": servers * self.gpu.server_watts * million,
            "usd_per_million_samples": servers * self.gpu.server_price_usd / LIFE_HOURS / SECONDS_PER_HOUR * million,
            "bound_by": self.bound_by,
            "basis": "documented roofline, achieved fractions fitted to published A100 results",
        }

    @property
    def bound_by(self) -> str:
        parts = {"device": self.device_seconds, "launch": self.launched_seconds, "links": self.reduced_seconds}
        return max(parts, key=lambda name: parts[name])


def operator_seconds(work: Work, gpu: Gpu, constants: Constants) -> npt.NDArray[np.float64]:
    """Device time of each operator. Shape [operators]."""
    single = np.where(work.convolution, gpu.tf32_flops, gpu.fp32_flops)
    products = np.where(work.half, gpu.fp16_flops, single) * constants.gpu_matrix
    peak = np.where(work.matrix, products, gpu.fp32_flops)
    found: npt.NDArray[np.float64] = np.maximum(
        work.flops / peak, work.bytes / (gpu.memory_rate * constants.gpu_memory)
    )
    return found


def on_gpus(
    graph: Graph, gpu: Gpu, *, gpus: int, samples: float, constants: Constants, accumulation: int = 1,
    left_out: Set[str] = frozenset(),
) -> OnGpus:  # fmt: skip
    """One step of ``gpus`` data-parallel devices, each with the micro-batch of ``graph``; ``samples`` of all of them.

    ``accumulation`` micro-batches are computed before gradients are summed and weights updated once. Operators of the
    nodes in ``left_out`` do not count.
    """
    work = work_of(graph, left_out)
    seconds = operator_seconds(work, gpu, constants)
    updating = float(seconds[work.update].sum())
    device = float(seconds.sum() - updating) * accumulation + updating
    launches = int(work.calls[~work.update].sum()) * accumulation + int(work.calls[work.update].sum())
    launched = launches * constants.gpu_launch * LAUNCH_SECONDS
    reduced = _all_reduce(graph, gpu, gpus)
    hidden = BACKWARD_SHARE * device / accumulation
    step = max(device, launched) + max(0.0, reduced - hidden)
    return OnGpus(step, device, launched, reduced, samples, gpus, gpu)


LAUNCH_SECONDS = 5.0e-6  # documented order of a CUDA kernel launch; ``gpu_launch`` scales it


def _all_reduce(graph: Graph, gpu: Gpu, gpus: int) -> float:
    """A ring over the devices of a server, and over servers by their network adapters."""
    if gpus == 1 or not graph.gradients:
        return 0.0
    roots = {graph.tensors.root(gradient) for _, gradient in graph.gradients}
    amount = sum(int(graph.tensors.bytes[root]) for root in roots)
    slowest = gpu.link_rate if gpus <= gpu.of_server else gpu.network_rate
    return 2 * (gpus - 1) / gpus * amount / slowest + 2 * (gpus - 1) * gpu.link_hop
