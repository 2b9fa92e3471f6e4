"""The highest rate of requests at which a latency bound still holds, by bisection over one and the same arrivals."""

from __future__ import annotations

from dataclasses import replace

from simulator.errors import SimulatorError
from simulator.serving.queueing import serve
from simulator.serving.scenarios import Load, Outcome, run
from simulator.serving.service import Service

CLOSE = 1e-3  # relative width of the bracket that ends the search


def highest_rate(load: Load, service: Service) -> Outcome:
    """The server scenario at the highest rate, to a thousandth, whose percentile is within ``load.bound``.

    It is no higher than the peak of the service.

    Raises ``serving.bound_impossible`` for a bound that even a single request misses.
    """
    alone = float(serve([0.0], service, load.patience).latency[0])
    if load.bound < alone:
        raise SimulatorError(
            "serving.bound_impossible",
            f"A request alone already takes {alone:.6g} s. Allow a longer latency, a smaller batch or less waiting.",
            params={"bound": load.bound, "least": alone},
        )
    low = high = service.peak  # beyond it the queue would only grow
    while not _holds(load, service, low):
        low, high = low / 2, low
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _holds(load, service, middle) else (low, middle)
    return run(replace(load, qps=low), service)


def _holds(load: Load, service: Service, qps: float) -> bool:
    return bool(run(replace(load, qps=qps), service).met)
