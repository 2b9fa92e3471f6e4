"""What a simulated inference gives a queue: how often a batch leaves, and how long one is on its way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.errors import SimulatorError
from simulator.frameworks.catalogue import framework
from simulator.units import Seconds


@dataclass(frozen=True)
class Service:
    """``replicas`` pipelines of ``batch`` samples each, with shapes fixed: a batch that is not full takes as long.

    A pipeline takes a batch every ``interval`` seconds at best, holds up to ``depth`` of them, and a batch alone takes
    ``latency``. A full pipeline therefore gives a batch every max(interval, latency / depth).
    """

    batch: int
    interval: Seconds
    latency: Seconds
    depth: int = 1
    replicas: int = 1

    def __post_init__(self) -> None:
        if min(self.batch, self.depth, self.replicas) < 1 or self.interval <= 0 or self.latency < self.interval:
            raise ValueError("a service has a batch, a depth, replicas, and a latency no shorter than its interval")

    @property
    def peak(self) -> float:
        """Samples a second when it never waits for requests."""
        return self.replicas * self.batch / max(self.interval, self.latency / self.depth)


def service_of(report: Mapping[str, Any], queue_depth: int | None = None) -> Service:
    """The service that a report of an inference describes; ``queue_depth`` None: as its settings or its framework say.

    Raises ``serving.not_inference``.
    """
    if not report.get("latency"):
        raise SimulatorError(
            "serving.not_inference",
            "Only an inference can be put under load. Simulate the model with --task infer.",
            params={"task": report["config"]["task"]},
        )
    settings = report["config"]
    batch, replicas = int(settings["batch"]), _replicas(report)
    interval = batch * replicas / float(report["samples_per_second"])
    return Service(
        batch=batch,
        interval=interval,
        latency=max(interval, float(report["latency"]["seconds"])),
        depth=queue_depth or settings["queue_depth"] or framework(settings["framework"]).queue_depth,
        replicas=replicas,
    )


def _replicas(report: Mapping[str, Any]) -> int:
    return int(report["parallel"]["replicas"])
