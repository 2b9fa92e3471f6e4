"""The order of a search: families by what they promise, in each the largest micro-batch that fits, then neighbours.

Deterministic: the same request tries the same configurations in the same order, however far the budget lets it come.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.search.candidates import Family, Request, configuration, families, ladder
from simulator.search.estimate import TRUSTED, Estimate
from simulator.search.neighbours import neighbours
from simulator.search.trials import Ended, Trial, Trials

CLIMBS = 12  # improvements of the best found, one neighbour at a time
PATIENCE = 2  # rungs of a family, in the order of their estimates, that may be worse than one before
STARTS = 3  # families whose best candidates are improved


@dataclass(frozen=True)
class Rung:
    """One micro-batch of a family and what it is estimated to cost."""

    batch: int
    accumulation: int
    cost: float


def find(request: Request, estimate: Estimate, trials: Trials, nodes: tuple[str, ...] = ()) -> Ended:
    """Fill ``trials``. "" when all that is legal was tried or ruled out, else why it ended before."""
    ordered = sorted(_promising(request, estimate, trials), key=lambda pair: min(rung.cost for rung in pair[1]))
    for family, rungs in ordered:
        if trials.budget.ended:
            return trials.budget.ended
        _family(request, family, rungs, trials, estimate.tight(family))
    for start in _starts(trials):
        if _may_win(start, trials):
            _climb(request, start, trials, nodes)
    return trials.budget.ended


def _promising(request: Request, estimate: Estimate, trials: Trials) -> list[tuple[Family, list[Rung]]]:
    """Families whose lasting data can fit at all, with their rungs."""
    found = []
    for family in families(request):
        rungs = [Rung(batch, times, estimate.cost(family, batch, times)) for batch, times in ladder(request, family)]
        over = estimate.over(family)
        if over:
            smallest = rungs[0]
            trials.leave_out(configuration(request, family, smallest.batch, smallest.accumulation), "resident", over)
        else:
            found.append((family, rungs))
    return found


def _family(request: Request, family: Family, rungs: list[Rung], trials: Trials, tight: bool) -> None:
    """The largest rung that fits, by bisection; then those below it that may be better.

    ``tight``: the smallest rung first, for if that does not fit, nothing of the family does.
    """
    if _leave_out(request, family, rungs, trials):
        return
    low, high = -1, len(rungs)  # rungs[low] fits, rungs[high] does not
    while high - low > 1 and not trials.budget.ended:
        middle = 0 if tight and low < 0 else (low + high) // 2
        if _try(request, family, rungs[middle], trials).fits:
            low = middle
        else:
            high = middle
    for rung in rungs[high + 1 :]:
        trials.leave_out(configuration(request, family, rung.batch, rung.accumulation), "smaller_batch")
    _smaller(request, family, rungs[: low + 1], trials)


def _smaller(request: Request, family: Family, fitting: list[Rung], trials: Trials) -> None:
    """Rungs that fit, the most promising first, until several in a row do not get better."""
    best: tuple[float, ...] = (3.0,)
    patience = PATIENCE
    for rung in sorted(fitting, key=lambda rung: rung.cost):
        if trials.budget.ended or not patience:
            return
        if not _leave_out(request, family, [rung], trials):
            rank = trials.rank(_try(request, family, rung, trials))
            best, patience = (rank, PATIENCE) if rank < best else (best, patience - 1)


def _leave_out(request: Request, family: Family, rungs: list[Rung], trials: Trials) -> bool:
    """Whether even the best of ``rungs`` is so much worse by estimate than what was found that none need be tried."""
    if trials.best is None or trials.best.outcome is None:
        return False
    known = trials.best.outcome.cost(trials.goal)
    promise = min(rung.cost for rung in rungs) * TRUSTED
    if promise < known:
        return False
    for rung in rungs:
        config = configuration(request, family, rung.batch, rung.accumulation)
        trials.leave_out(config, "estimate", rung.cost * TRUSTED / known - 1)
    return True


def _try(request: Request, family: Family, rung: Rung, trials: Trials) -> Trial:
    return trials.simulate(configuration(request, family, rung.batch, rung.accumulation))


def _starts(trials: Trials) -> list[Trial]:
    """The best candidates, no two of the same stages and recomputation; what is over by least when nothing fits."""
    simulated = sorted((trial for trial in trials if trial.outcome is not None), key=trials.rank)
    found: dict[tuple[int, str], Trial] = {}
    for trial in simulated:
        found.setdefault((trial.config.pipeline_stages, trial.config.recompute), trial)
    return list(found.values())[:STARTS]


def _may_win(start: Trial, trials: Trials) -> bool:
    """Whether neighbours of ``start`` may beat the best: what does not fit only gets slower by being made to fit."""
    if trials.best is None or trials.best.outcome is None or start.outcome is None:
        return True
    known, cost = trials.best.outcome.cost(trials.goal), start.outcome.cost(trials.goal)
    return cost * TRUSTED < known if start.fits else cost < known


def _climb(request: Request, start: Trial, trials: Trials, nodes: tuple[str, ...]) -> None:
    """Go to the best neighbour while there is a better one."""
    now = start
    for _ in range(CLIMBS):
        tried = []
        for config in neighbours(request, now, nodes):
            if trials.budget.ended:
                return
            tried.append(trials.simulate(config))
        best = min(tried, key=trials.rank, default=now)
        if trials.rank(best) >= trials.rank(now):
            return
        now = best
