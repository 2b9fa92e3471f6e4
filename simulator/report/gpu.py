"""The GPU one would pick instead, beside a simulated run: the same step on one server, with its own wider interval."""

from __future__ import annotations

from typing import Any

from simulator.comparator.beside import beside
from simulator.graph.graph import Graph
from simulator.report.costs import JOULES_A_KWH
from simulator.report.intervals import Doubts, half_width
from simulator.report.parts import Parts


def beside_gpu(parts: Parts, whole: Graph) -> dict[str, Any] | None:
    """The comparator's figures for ``whole``, one micro-batch of the model, with electricity in the price.

    None where the model leaves nothing for a GPU to do.
    """
    config, samples = parts.config, parts.samples
    one = beside(whole, samples=samples, sequences_in_pack=config.sequences_in_pack, constants=parts.constants)
    if one.step_seconds <= 0:
        return None
    found = one.to_dict()
    rate, spread = found["samples_per_second"], half_width(Doubts(config.framework, found["gpus"], gpu=True))
    electricity = found["joules_per_million_samples"] / JOULES_A_KWH * parts.ipu.fact("cost.electricity")
    return {
        **found,
        "usd_per_million_samples": found["usd_per_million_samples"] + electricity,
        "intervals": {"samples_per_second": [rate / spread, rate * spread]},
        "ratio": samples / parts.seconds(parts.step_cycles) / rate,
    }
