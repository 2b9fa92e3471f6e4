"""The book of a search: what was tried, what was left out and why, and who is ahead. It decides nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.search.outcome import Goal, Outcome, dominates

Skipped = Literal["", "resident", "smaller_batch", "leaner", "estimate"]
Ended = Literal["", "time", "candidates", "cancelled"]
Measure = Callable[[RunConfig], Outcome]


@dataclass(frozen=True)
class Trial:
    """A configuration that was simulated (``outcome``), refused (``refused``) or left out (``skipped``).

    ``by``: with "resident" the bytes over, with "estimate" how much worse than the best so far, at best (0.3: 30 %).
    """

    config: RunConfig
    outcome: Outcome | None = None
    refused: SimulatorError | None = None
    skipped: Skipped = ""
    by: float = 0.0

    @property
    def fits(self) -> bool:
        return self.outcome is not None and self.outcome.fits


@dataclass
class Budget:
    """When a search must end: after ``seconds``, ``candidates`` simulated, or when ``cancelled()`` says so."""

    seconds: float
    candidates: int
    cancelled: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = monotonic
    spent: int = 0

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def ended(self) -> Ended:
        if self.cancelled():
            return "cancelled"
        if self.spent >= self.candidates:
            return "candidates"
        return "time" if self.clock() - self._began >= self.seconds else ""

    @property
    def fraction(self) -> float:
        """How much of it is used up, 0 to 1."""
        return min(1.0, max((self.clock() - self._began) / self.seconds, self.spent / self.candidates))


class Trials:
    """Simulates each configuration once. ``measure`` raises SimulatorError for one that is refused.

    ``prepare`` settles what a candidate leaves open (where its stages are cut) before it is entered.
    """

    def __init__(
        self,
        measure: Measure,
        goal: Goal,
        budget: Budget,
        on_trial: Callable[[float], None],
        prepare: Callable[[RunConfig], RunConfig] = lambda config: config,
    ) -> None:
        self._measure = measure
        self._prepare = prepare
        self._found: dict[str, Trial] = {}
        self._on_trial = on_trial
        self.goal = goal
        self.budget = budget
        self.best: Trial | None = None

    def __iter__(self) -> Iterator[Trial]:
        return iter(self._found.values())

    def simulate(self, config: RunConfig) -> Trial:
        """The trial of ``config``; the same object when it was tried before."""
        config = self._prepare(config)
        key = _key(config)
        known = self._found.get(key)
        if known is not None and not known.skipped:
            return known
        self.budget.spent += 1
        try:
            trial = Trial(config, self._measure(config))
        except SimulatorError as error:
            trial = Trial(config, refused=error)
        self._found[key] = trial
        if trial.fits and (self.best is None or self.rank(trial) < self.rank(self.best)):
            self.best = trial
        self._on_trial(self.budget.fraction)
        return trial

    def leave_out(self, config: RunConfig, why: Skipped, by: float = 0.0) -> None:
        """Remember that ``config`` was not simulated; what was simulated stays."""
        config = self._prepare(config)
        self._found.setdefault(_key(config), Trial(config, skipped=why, by=by))

    def reject(self, trial: Trial, why: SimulatorError) -> None:
        """Take back ``trial``, which did not stand when it was simulated again."""
        self._found[_key(trial.config)] = Trial(trial.config, refused=why)
        fitting = [each for each in self if each.fits]
        self.best = min(fitting, key=self.rank, default=None)

    def rank(self, trial: Trial) -> tuple[float, ...]:
        """Sorts trials: those that fit by cost, then those that do not by the bytes over, then the refused."""
        if trial.outcome is None:
            return (2.0,)
        if trial.outcome.overfull is not None:
            return (1.0, float(trial.outcome.overfull.over_by))
        return (0.0, trial.outcome.cost(self.goal), -float(trial.outcome.headroom))

    @property
    def nearest(self) -> Trial | None:
        """The best that fits, else what is over by least, else None."""
        simulated = [trial for trial in self if trial.outcome is not None]
        return min(simulated, key=self.rank, default=None)

    def front(self) -> list[Trial]:
        """Those that fit and no other beats in time, price, energy and headroom at once; best of the goal first."""
        fitting = [(trial, trial.outcome) for trial in self if trial.outcome is not None and trial.outcome.fits]
        found: dict[tuple[float, ...], Trial] = {}  # of equally good ones the first
        for trial, mine in fitting:
            if not any(dominates(other, mine) for _, other in fitting):
                found.setdefault((mine.seconds, mine.cost("cheapest"), mine.joules, mine.headroom), trial)
        return sorted(found.values(), key=self.rank)


def _key(config: RunConfig) -> str:
    return json.dumps(config.to_dict(), sort_keys=True)
