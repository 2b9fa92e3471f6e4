"""What a search tells: the plan, the Pareto front, and why every other candidate lost, in words and as JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from simulator.config import RunConfig
from simulator.search.outcome import Goal, Outcome
from simulator.search.trials import Ended, Trial
from simulator.units import worded_bytes

SCHEMA = "podium.plan/1"
Status = Literal["found", "found_so_far", "infeasible", "not_found"]
WORSE = {"fastest": "slower", "cheapest": "dearer", "least_energy": "more energy"}
ENDS = {"": "", "time": "time ran out", "candidates": "the number of candidates was reached", "cancelled": "cancelled"}


@dataclass(frozen=True)
class Answer:
    """``found``: best of all that is legal; ``found_so_far``: the search ended early; ``infeasible``: nothing legal
    fits; ``not_found``: it ended before anything that fits was met. ``trials`` are all candidates, best first.

    ``differs_from`` are the settings that the request gave: the rest was searched.
    """

    status: Status
    goal: Goal
    base: RunConfig
    best: Trial | None
    nearest: Trial | None
    front: tuple[Trial, ...]
    trials: tuple[Trial, ...]
    ended: Ended
    verified: bool
    cpu_seconds: float
    notes: tuple[tuple[str, str], ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Plain data. ``plan`` holds the settings that ``--config`` reads; all figures are simulated."""
        return {
            "schema": SCHEMA,
            "status": self.status,
            "goal": self.goal,
            "ended": self.ended or "complete",
            "plan": None if self.best is None else settings(self.best.config),
            "best": None if self.best is None else self._row(self.best),
            "nearest": None if self.best is not None or self.nearest is None else self._row(self.nearest),
            "front": [self._row(trial) for trial in self.front],
            "candidates": [self._row(trial) for trial in self.trials],
            "simulated": sum(1 for trial in self.trials if trial.outcome is not None),
            "verified": self.verified,
            "notes": [{"code": code, "message": message} for code, message in self.notes],
            "search": {"cpu_seconds": self.cpu_seconds},
        }

    def _row(self, trial: Trial) -> dict[str, Any]:
        code, text = self.verdict(trial)
        return {
            "settings": {name: value for name, value in settings(trial.config).items() if name in SEARCHED},
            "outcome": None if trial.outcome is None else trial.outcome.to_dict(),
            "verdict": code,
            "reason": text,
        }

    def verdict(self, trial: Trial) -> tuple[str, str]:
        """Why ``trial`` was chosen or lost: a stable code and a phrase."""
        if trial.refused is not None:
            return "refused", f"refused: {trial.refused.message}"
        if trial.outcome is None:
            return _skipped(trial, WORSE[self.goal])
        if trial.outcome.overfull is not None:
            return "does_not_fit", f"does not fit: {_where(trial.outcome)}"
        if self.best is None or self.best.outcome is None or trial.config == self.best.config:
            return "chosen", "chosen"
        by = trial.outcome.cost(self.goal) / self.best.outcome.cost(self.goal) - 1
        if by <= 0:
            return "equal", "as good, but no better"
        return "lost", f"lost: {by:.1%} {WORSE[self.goal]}" if by < 0.1 else f"lost: {by:.0%} {WORSE[self.goal]}"


def settings(config: RunConfig) -> dict[str, Any]:
    """The settings of ``config`` that differ from their defaults, as plain data; batch and system always."""
    default = RunConfig()
    everything = config.to_dict()
    kept = {f.name for f in fields(config) if getattr(config, f.name) != getattr(default, f.name)}
    return {name: value for name, value in everything.items() if name in kept | {"system", "task", "batch"}}


SEARCHED = frozenset({
    "ipus", "stages", "splits", "batch", "accumulation", "recompute", "offload", "shard_optimiser",
    "available_memory_proportion", "schedule", "checkpoints",
})  # fmt: skip


def _skipped(trial: Trial, worse: str) -> tuple[str, str]:
    if trial.skipped == "resident":
        text = f"does not fit: weights and optimiser state alone are {worded_bytes(int(trial.by))} too large"
        return "does_not_fit", text
    if trial.skipped == "smaller_batch":
        return "does_not_fit", "does not fit: a smaller micro-batch already does not"
    if trial.skipped == "leaner":
        return "does_not_fit", "does not fit: with less of the optimiser on the chips the smallest micro-batch does not"
    return "left_out", f"left out: at best {trial.by:.0%} {worse} by estimate"


def _where(outcome: Outcome) -> str:
    over = outcome.overfull
    assert over is not None
    what = "code" if over.region == "code" else "memory"
    return f"IPU {over.ipu} over by {worded_bytes(over.over_by)} of {what} on tile {over.tile}"
