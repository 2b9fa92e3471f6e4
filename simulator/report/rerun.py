"""Another configuration of a model that was just simulated, for remedies: its trace serves again where it can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.graph.rebatch import Batches
from simulator.graph.traced import trace_key
from simulator.report.parts import Parts


class Rerun:
    """``trace`` makes the graph of a configuration, ``finish`` simulates it. Both raise SimulatorError."""

    def __init__(
        self,
        graph: Graph,
        config: RunConfig,
        trace: Callable[[RunConfig], Graph],
        finish: Callable[[Graph, RunConfig], Parts],
    ) -> None:
        self._config = config
        self._trace = trace
        self._finish = finish
        self._batches = Batches(lambda batch: trace(replace(config, batch=batch)))
        self._batches.give(graph)

    def __call__(self, config: RunConfig) -> Parts:
        """The products of a simulation under ``config``."""
        known = trace_key(config) == trace_key(self._config)
        graph = self._batches.at(config.batch) if known else self._trace(config)
        return self._finish(graph, config)
