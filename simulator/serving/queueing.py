"""Requests through a service in virtual time: who is batched with whom, when each enters and leaves. No scenario."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simulator.serving.service import Service
from simulator.units import Seconds

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Served:
    """Seconds, one entry a request in order of arrival; and one a batch in order of entry.

    ``size`` is the number of requests of a batch.
    """

    arrived: Times
    entered: Times
    left: Times
    batch_entered: Times
    batch_left: Times
    size: npt.NDArray[np.int64]

    @property
    def latency(self) -> Times:
        return self.left - self.arrived


class Pipelines:
    """The replicas of a service: each takes a batch while fewer than ``depth`` are inside."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._inside: list[deque[Seconds]] = [deque(maxlen=service.depth) for _ in range(service.replicas)]

    def free(self) -> tuple[Seconds, int]:
        """When some pipeline next takes a batch, and which: the first of those that are as early."""
        times = [inside[0] if len(inside) == self._service.depth else -np.inf for inside in self._inside]
        index = int(np.argmin(times))
        return times[index], index

    def enter(self, index: int, when: Seconds) -> Seconds:
        """A batch enters; when it leaves. Batches leave in order, an interval apart at least."""
        inside = self._inside[index]
        before = inside[-1] if inside else -np.inf
        leaves = max(when + self._service.latency, before + self._service.interval)
        inside.append(leaves)
        return leaves


def serve(arrivals: Sequence[Seconds] | Times, service: Service, patience: Seconds = 0.0) -> Served:
    """Serve requests of one sample that arrive at ``arrivals``, ascending.

    A batch enters as soon as a pipeline is free and it is full, or its oldest request has waited ``patience`` seconds.
    """
    arrived = np.asarray(arrivals, dtype=np.float64)
    entered, left = np.empty_like(arrived), np.empty_like(arrived)
    batches: list[tuple[Seconds, Seconds, int]] = []
    pipelines, first = Pipelines(service), 0
    while first < len(arrived):
        free, index = pipelines.free()
        full = first + service.batch - 1
        ready = float(arrived[first]) + patience
        if full < len(arrived):
            ready = min(ready, float(arrived[full]))
        when = max(free, ready)
        last = min(first + service.batch, int(np.searchsorted(arrived, when, side="right")))
        leaves = pipelines.enter(index, when)
        entered[first:last], left[first:last] = when, leaves
        batches.append((when, leaves, last - first))
        first = last
    columns = np.array(batches, dtype=np.float64).reshape(-1, 3)
    return Served(arrived, entered, left, columns[:, 0], columns[:, 1], columns[:, 2].astype(np.int64))
