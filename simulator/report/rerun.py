"""Another configuration of a model that was just simulated, for remedies: its trace and stages serve again where they
can."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.graph.rebatch import Batches
from simulator.graph.traced import trace_key
from simulator.report.parts import Parts

# settings that balanced stages do not depend on
UNPLANNED = frozenset({"schedule", "offload"})  # nor plans
UNBALANCED = UNPLANNED | {"accumulation", "recompute", "checkpoints", "shard_optimiser", "embedding_steps"}


class Rerun:
    """``trace`` makes the graph of a configuration, ``finish`` simulates it, told whether its plans are those of
    ``config``. Both raise SimulatorError.

    ``splits`` are those that were chosen for ``config``.
    """

    def __init__(
        self,
        graph: Graph,
        config: RunConfig,
        splits: tuple[str, ...],
        trace: Callable[[RunConfig], Graph],
        finish: Callable[[Graph, RunConfig, bool], Parts],
    ) -> None:
        self._config = config
        self._splits = splits
        self._trace = trace
        self._finish = finish
        self._batches = Batches(lambda batch: trace(replace(config, batch=batch)))
        self._batches.give(graph)

    def __call__(self, config: RunConfig) -> Parts:
        """The products of a simulation under ``config``."""
        known = trace_key(config) == trace_key(self._config)
        graph = self._batches.at(config.batch) if known else self._trace(config)
        return self._finish(graph, self._divided(config), self._changed(config) <= UNPLANNED)

    def _divided(self, config: RunConfig) -> RunConfig:
        """``config`` with the stages of the run before, where balancing them anew would find the same."""
        return replace(config, splits=self._splits) if self._changed(config) <= UNBALANCED else config

    def _changed(self, config: RunConfig) -> frozenset[str]:
        before, after = self._config.to_dict(), config.to_dict()
        return frozenset(name for name in after if before[name] != after[name])
