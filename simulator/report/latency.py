"""Latency of an inference: of one micro-batch alone, and of one that waits behind the batches in flight."""

from __future__ import annotations

from typing import Any

from simulator.frameworks.catalogue import framework
from simulator.report.parts import Parts


def latency(parts: Parts) -> dict[str, Any] | None:
    """``seconds`` from host to host of a micro-batch that finds the IPUs idle; None in training.

    ``in_flight_seconds``: queue depth x batch / throughput, the depth as given or as the framework keeps.
    """
    config = parts.config
    if config.training:
        return None
    depth = config.queue_depth or framework(config.framework).queue_depth
    alone = parts.seconds(parts.schedule.latency)
    batch = parts.parallel.micro_batch * parts.parallel.replicas * parts.parallel.sequences_in_pack
    waiting = depth * batch / (parts.samples / parts.seconds(parts.step_cycles))
    return {"seconds": alone, "queue_depth": depth, "in_flight_seconds": max(alone, waiting)}
