"""Configurations one step from another: memory proportion, schedule, micro-batch, and where stages are cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from simulator.config import RunConfig
from simulator.search.candidates import Family, Request, ladder
from simulator.search.outcome import Outcome
from simulator.search.trials import Trial

PROPORTIONS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
SCHEDULES = ("grouped", "interleaved")


def neighbours(request: Request, trial: Trial, nodes: tuple[str, ...]) -> Iterator[RunConfig]:
    """Legal configurations that differ from ``trial`` in one setting, likely ones first.

    ``nodes`` are the model's in the order in which they run: a stage may begin at each of them.
    """
    if trial.outcome is None:
        return
    yield from _cuts(request, trial.config, trial.outcome, nodes)
    yield from _proportions(request, trial.config)
    yield from _schedules(request, trial.config)
    yield from _batches(request, trial.config)


def _proportions(request: Request, config: RunConfig) -> Iterator[RunConfig]:
    if {"available_memory_proportion", "stage_proportions"} & request.fixed:
        return
    now = config.available_memory_proportion
    for near in (
        max((p for p in PROPORTIONS if p < now), default=None),
        min((p for p in PROPORTIONS if p > now), default=None),
    ):
        if near is not None:
            yield replace(config, available_memory_proportion=near)


def _schedules(request: Request, config: RunConfig) -> Iterator[RunConfig]:
    if config.training and config.pipeline_stages > 1 and "schedule" not in request.fixed:
        for name in SCHEDULES:
            if name != config.schedule:
                yield replace(config, schedule=name)


def _batches(request: Request, config: RunConfig) -> Iterator[RunConfig]:
    """The next smaller and larger micro-batch, with the accumulation that keeps the global batch legal."""
    family = Family(
        config.ipus or 1, config.pipeline_stages, config.recompute, config.offload, config.shard_optimiser,
        config.training and config.accumulation > 1,
    )  # fmt: skip
    pairs = ladder(request, family)
    below = [pair for pair in pairs if pair[0] < config.batch]
    above = [pair for pair in pairs if pair[0] > config.batch]
    for batch, accumulation in (*above[:1], *below[-1:]):
        yield replace(config, batch=batch, accumulation=accumulation)


def _cuts(request: Request, config: RunConfig, outcome: Outcome, nodes: tuple[str, ...]) -> Iterator[RunConfig]:
    """Boundaries of the slowest stage (or of the fullest, when it does not fit) moved so that it gets smaller."""
    if {"splits", "stage_ipus"} & request.fixed or not outcome.splits:
        return
    begins = [nodes.index(name) for name in outcome.splits if name in nodes]
    if len(begins) != len(outcome.splits):
        return
    worst = _stage_to_shrink(outcome)
    for step in _steps(len(nodes), len(begins) + 1):
        for boundary, moved in ((worst - 1, step), (worst, -step)):
            if not 0 <= boundary < len(begins):
                continue
            places = [*begins[:boundary], begins[boundary] + moved, *begins[boundary + 1 :]]
            if all(a < b for a, b in zip([0, *places], [*places, len(nodes)], strict=True)):
                yield replace(config, splits=tuple(nodes[place] for place in places))


def _stage_to_shrink(outcome: Outcome) -> int:
    if outcome.overfull is not None:
        return min(outcome.overfull.ipu, len(outcome.splits))
    return max(range(len(outcome.stage_seconds)), key=lambda stage: outcome.stage_seconds[stage], default=0)


def _steps(nodes: int, stages: int) -> tuple[int, ...]:
    """Nodes by which a boundary moves: an eighth of a stage, and one."""
    return tuple(sorted({max(1, nodes // (8 * stages)), 1}, reverse=True))
