"""Exact figures of what was served: percentiles by nearest rank, queue and batches in flight over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.serving.queueing import Served, Times
from simulator.units import Seconds

PERCENTILES = (50.0, 90.0, 99.0)


def percentile(values: Times, percent: float) -> Seconds:
    """The smallest value that at least ``percent`` of all are no larger than: one of the values, never between two."""
    rank = max(1, math.ceil(percent / 100 * len(values) - 1e-9))
    return float(np.partition(values, rank - 1)[rank - 1])


@dataclass(frozen=True)
class Figures:
    """``queue`` counts requests that wait, ``in_flight`` batches inside; means are over time. Seconds and samples."""

    requests: int
    seconds: Seconds
    throughput: float
    latency: dict[str, Seconds]
    queue_mean: float
    queue_most: int
    in_flight_mean: float
    in_flight_most: int
    fill: float

    def to_dict(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "seconds": self.seconds,
            "samples_per_second": self.throughput,
            "latency_seconds": dict(self.latency),
            "queue": {"mean": self.queue_mean, "most": self.queue_most},
            "batches_in_flight": {"mean": self.in_flight_mean, "most": self.in_flight_most},
            "batch_fill": self.fill,
        }


def latencies(values: Times) -> dict[str, Seconds]:
    """p50, p90, p99, mean and max of ``values``."""
    named = {f"p{percent:g}": percentile(values, percent) for percent in PERCENTILES}
    return {**named, "mean": float(values.mean()), "max": float(values.max())}


def figures(served: Served, batch: int, samples: int = 1, latency: Times | None = None) -> Figures:
    """Figures of a run; ``latency`` of whole queries where they are not single requests of one sample."""
    begin, end = float(served.arrived[0]), float(served.left.max())
    span = max(end - begin, float(np.finfo(np.float64).tiny))
    waited = served.entered - served.arrived
    inside = served.batch_left - served.batch_entered
    return Figures(
        requests=len(served.arrived),
        seconds=span,
        throughput=samples * len(served.arrived) / span,
        latency=latencies(served.latency if latency is None else latency),
        queue_mean=float(waited.sum()) / span,
        queue_most=most_at_once(served.arrived, served.entered),
        in_flight_mean=float(inside.sum()) / span,
        in_flight_most=most_at_once(served.batch_entered, served.batch_left),
        fill=float(served.size.mean()) / batch,
    )


def most_at_once(begin: Times, end: Times) -> int:
    """The most intervals [begin, end) that hold one instant; those that are empty hold none."""
    begin, end = begin[end > begin], np.sort(end[end > begin])
    if not len(begin):
        return 0
    begin = np.sort(begin)
    return int((np.arange(1, len(begin) + 1) - np.searchsorted(end, begin, side="right")).max())
