"""The four ways of asking that MLPerf Inference defines, in virtual time: what arrives when. All are seeded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.errors import SimulatorError
from simulator.serving.queueing import Served, Times, serve
from simulator.serving.service import Service
from simulator.serving.statistics import Figures, figures, percentile
from simulator.units import Seconds

SCENARIOS = ("single-stream", "multi-stream", "server", "offline")
MOST_QUERIES = 1_000_000


@dataclass(frozen=True)
class Load:
    """What is asked. ``qps`` and ``patience`` (seconds a batch waits for more) are of the server scenario,
    ``samples_per_query`` of multi stream; ``percent`` is the percentile that ``bound`` (seconds) is put on."""

    scenario: str
    queries: int = 10_000
    qps: float = 0.0
    bound: Seconds = 0.0
    percent: float = 99.0
    patience: Seconds = 0.0
    samples_per_query: int = 8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.scenario not in SCENARIOS:
            raise _invalid("scenario", "one of " + ", ".join(SCENARIOS))
        if not 1 <= self.queries <= MOST_QUERIES:
            raise _invalid("queries", f"a whole number from 1 to {MOST_QUERIES}")
        if not 1 <= self.samples_per_query <= 1024:
            raise _invalid("samples_per_query", "a whole number from 1 to 1024")
        for name in ("qps", "bound", "patience"):
            if not 0 <= getattr(self, name) < 1e12:
                raise _invalid(name, "a number from 0 to below 1e12")
        if not 0 < self.percent <= 100:
            raise _invalid("percentile", "a number above 0, up to 100")
        if self.seed < 0:
            raise _invalid("arrival_seed", "a whole number of 0 or more")
        if self.scenario == "server" and not self.qps:
            raise _invalid("qps", "requests a second, above 0")


@dataclass(frozen=True)
class Outcome:
    """What a load met. ``met`` says whether the bound held (None: there was none)."""

    load: Load
    service: Service
    figures: Figures
    bounded: Seconds
    met: bool | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "scenario": self.load.scenario,
            "qps": self.load.qps if self.load.scenario == "server" else None,
            "seed": self.load.seed,
            "service": {
                "batch": self.service.batch,
                "replicas": self.service.replicas,
                "interval_seconds": self.service.interval,
                "latency_seconds": self.service.latency,
                "queue_depth": self.service.depth,
                "peak_samples_per_second": self.service.peak,
            },
            **self.figures.to_dict(),
            "bound": None
            if self.met is None
            else {"percentile": self.load.percent, "seconds": self.load.bound, "found": self.bounded, "met": self.met},
        }


def _invalid(name: str, legal: str) -> SimulatorError:
    return SimulatorError(
        "serving.invalid", f"'{name}' of the load must be {legal}.", params={"field": name, "legal": legal}
    )


def run(load: Load, service: Service) -> Outcome:
    """Serve ``load``; the same every time."""
    if load.scenario == "server":
        served = serve(poisson(load), service, load.patience)
        found, latency = figures(served, service.batch), served.latency
    elif load.scenario == "offline":
        served = serve(np.zeros(load.queries), service)
        found, latency = figures(served, service.batch), served.latency
    else:
        found, latency = _streamed(load, service)
    bounded = percentile(latency, load.percent)
    return Outcome(load, service, found, bounded, bounded <= load.bound if load.bound else None)


def poisson(load: Load) -> Times:
    """Arrivals with exponential gaps. At another rate the same gaps are only stretched."""
    gaps = np.random.default_rng(load.seed).exponential(size=load.queries)
    return np.cumsum(gaps) / load.qps


def _streamed(load: Load, service: Service) -> tuple[Figures, Times]:
    """One query after the other, each begun when the last has its answer. Every one takes as long."""
    samples = load.samples_per_query if load.scenario == "multi-stream" else 1
    one = serve(np.zeros(samples), service)
    taken = float(one.left.max())
    starts: Times = np.arange(load.queries, dtype=np.float64) * taken
    ends: Times = np.arange(1, load.queries + 1, dtype=np.float64) * taken
    latency: Times = np.full(load.queries, taken, dtype=np.float64)
    whole = Served(
        arrived=starts,
        entered=starts + float(one.entered[0]),
        left=ends,
        batch_entered=np.add.outer(starts, one.batch_entered).ravel(),
        batch_left=np.minimum(np.add.outer(starts, one.batch_left), ends[:, None]).ravel(),
        size=np.tile(one.size, load.queries),
    )
    return figures(whole, service.batch, samples, latency), latency
