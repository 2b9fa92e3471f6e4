"""The order of a search: families by what they promise, in each the largest micro-batch that fits, then neighbours.

Deterministic: the same request tries the same configurations in the same order, however far the budget lets it come.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator.config import RunConfig
from simulator.search.candidates import Family, Request, configuration, families, ladder
from simulator.search.estimate import TRUSTED, Estimate
from simulator.search.neighbours import neighbours
from simulator.search.trials import Ended, Trial, Trials

CLIMBS = 24  # improvements of one candidate, one neighbour at a time
GAIN = 0.998  # what a step of a climb leaves of the cost, at most, to be worth another
CLIMBED = 0.93  # of its cost, what a climb leaves of a candidate at best
OWN = 0.9  # of what a family's other micro-batches let expect of one, what it may take at best
PATIENCE = 2  # rungs of a family, in the order of their estimates, that may be worse than one before
STARTS = 3  # families whose best candidates are improved
GUESSES = 4  # rungs of a family chosen by the bytes over of others, before halving decides

Slopes = dict[tuple[int, int, str, bool], float]  # bytes of the fullest tile that a sample more takes
Full = dict[Family, int]  # the smallest micro-batch that did not fit; families with their slice left out (0)


@dataclass(frozen=True)
class Rung:
    """One micro-batch of a family and what it is estimated to cost."""

    batch: int
    accumulation: int
    cost: float


def find(request: Request, estimate: Estimate, trials: Trials, nodes: tuple[str, ...] = ()) -> Ended:
    """Fill ``trials``. "" when all that is legal was tried or ruled out, else why it ended before."""
    ordered = sorted(_promising(request, estimate, trials), key=lambda pair: min(rung.cost for rung in pair[1]))
    groups: dict[tuple[int, int, str, bool], list[tuple[Family, list[Rung]]]] = {}
    for family, rungs in ordered:
        groups.setdefault(_place(family), []).append((family, rungs))
    slopes: Slopes = {}
    full: Full = {}
    for group in groups.values():
        tight = any(estimate.tight(family) for family, _ in group)
        if tight and not _leanest_fits(request, group, trials):
            continue
        for family, rungs in group:
            if trials.budget.ended:
                return trials.budget.ended
            _family(request, family, rungs, trials, estimate.tight(family), slopes, full)
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


def _place(family: Family) -> tuple[int, int, str, bool]:
    """What families share that differ only in where the optimiser's state lies."""
    return family.ipus, family.stages, family.recompute, family.accumulates


def _leanest_fits(request: Request, group: list[tuple[Family, list[Rung]]], trials: Trials) -> bool:
    """Whether the family that keeps least on the chips fits with its smallest micro-batch; if not, none of them does.

    True too where that need not be asked.
    """
    family, rungs = max(group, key=lambda pair: (pair[0].offload == "optimiser", pair[0].shard_optimiser))
    if len(group) == 1 or trials.budget.ended or _worse(rungs, trials):
        return True
    if _try(request, family, rungs[0], trials).outcome is None or _try(request, family, rungs[0], trials).fits:
        return True
    for each, steps in group:
        for rung in steps:
            trials.leave_out(configuration(request, each, rung.batch, rung.accumulation), "leaner")
    return False


def _family(
    request: Request, family: Family, rungs: list[Rung], trials: Trials, tight: bool, slopes: Slopes, full: Full
) -> None:
    """The largest rung that fits; then those below it that may be better.

    ``tight``: the smallest rung first, for if that does not fit, nothing of the family does.
    """
    rungs = _not_full(request, family, rungs, trials, full)
    if not rungs or _leave_out(request, family, rungs, trials):
        return
    low, high = -1, len(rungs)  # rungs[low] fits, rungs[high] does not
    over: dict[int, int] = {}
    while high - low > 1 and not trials.budget.ended:
        chosen = 0 if tight and low < 0 and high > 0 else _next(rungs, low, high, over, slopes.get(_place(family)))
        trial = _try(request, family, rungs[chosen], trials)
        low, high = (chosen, high) if trial.fits else (low, chosen)
        if trial.outcome is not None:
            over[chosen] = trial.outcome.overfull.over_by if trial.outcome.overfull else -trial.outcome.headroom
            _learn(rungs, over, slopes, family)
        if _leave_out(request, family, rungs[:high], trials, _scale(trial, rungs[chosen], trials)):
            break
    if high < len(rungs) and family.ipus == max(request.sizes):
        full[replace(family, ipus=0)] = rungs[high].batch
    for rung in rungs[high + 1 :]:
        trials.leave_out(configuration(request, family, rung.batch, rung.accumulation), "smaller_batch")
    _smaller(request, family, rungs[: low + 1], trials)


def _not_full(request: Request, family: Family, rungs: list[Rung], trials: Trials, full: Full) -> list[Rung]:
    """Rungs below that which did not fit on the whole slice: with fewer replicas each holds as much, or more of it."""
    limit = full.get(replace(family, ipus=0))
    if limit is None:
        return rungs
    for rung in rungs:
        if rung.batch >= limit:
            trials.leave_out(configuration(request, family, rung.batch, rung.accumulation), "smaller_batch")
    return [rung for rung in rungs if rung.batch < limit]


def _next(rungs: list[Rung], low: int, high: int, over: dict[int, int], slope: float | None) -> int:
    """The rung to try between ``low`` and ``high``: the largest that fits if memory grows evenly, else the middle."""
    if not over or slope is None or len(over) > GUESSES:
        return (low + high) // 2
    nearest = min(over, key=lambda at: abs(over[at]))
    most = rungs[nearest].batch - over[nearest] / slope
    return max([low + 1, *(at for at in range(low + 1, high) if rungs[at].batch <= most)])


def _learn(rungs: list[Rung], over: dict[int, int], slopes: Slopes, family: Family) -> None:
    """What a sample more takes, from the two rungs of ``over`` that are nearest to fitting just so."""
    if len(over) < 2:
        return
    first, second = sorted(sorted(over, key=lambda at: abs(over[at]))[:2])
    slope = (over[second] - over[first]) / (rungs[second].batch - rungs[first].batch)
    if slope > 0:
        slopes[_place(family)] = slope


def _scale(trial: Trial, rung: Rung, trials: Trials) -> float:
    """What a rung of the family costs at best, for each of its estimate: by ``trial``, which had that of ``rung``."""
    if trial.outcome is None:
        return TRUSTED
    return max(TRUSTED, trial.outcome.cost(trials.goal) / rung.cost * OWN)


def _smaller(request: Request, family: Family, fitting: list[Rung], trials: Trials) -> None:
    """Rungs that fit, the most promising first, until several in a row do not get better."""
    best: tuple[float, ...] = (3.0,)
    patience, scale = PATIENCE, TRUSTED
    for rung in sorted(fitting, key=lambda rung: rung.cost):
        if trials.budget.ended or not patience:
            return
        if not _leave_out(request, family, [rung], trials, scale):
            trial = _try(request, family, rung, trials)
            rank, scale = trials.rank(trial), _scale(trial, rung, trials)
            best, patience = (rank, PATIENCE) if rank < best else (best, patience - 1)


def _worse(rungs: list[Rung], trials: Trials, scale: float = TRUSTED) -> bool:
    """Whether even the best of ``rungs`` costs more than the best found, at ``scale`` times its estimate."""
    if trials.best is None or trials.best.outcome is None or not rungs:
        return False
    return min(rung.cost for rung in rungs) * scale >= trials.best.outcome.cost(trials.goal)


def _leave_out(request: Request, family: Family, rungs: list[Rung], trials: Trials, scale: float = TRUSTED) -> bool:
    """Leave out ``rungs`` when even the best of them is worse by estimate than what was found."""
    if not _worse(rungs, trials, scale) or trials.best is None or trials.best.outcome is None:
        return False
    known = trials.best.outcome.cost(trials.goal)
    for rung in rungs:
        config = configuration(request, family, rung.batch, rung.accumulation)
        trials.leave_out(config, "estimate", max(0.0, rung.cost * scale / known - 1))
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
    return cost * CLIMBED < known if start.fits else cost < known


def _climb(request: Request, start: Trial, trials: Trials, nodes: tuple[str, ...]) -> None:
    """Go to the first better neighbour while there is one. A setting that did not help is not changed again."""
    now: Trial | None = start
    dull: set[str] = set()
    for _ in range(CLIMBS):
        if now is None:
            return
        now = _better(request, now, trials, nodes, dull)


def _better(request: Request, now: Trial, trials: Trials, nodes: tuple[str, ...], dull: set[str]) -> Trial | None:
    """The first neighbour that is better by more than a trifle; None when there is none or the budget is used up."""
    for config in neighbours(request, now, nodes):
        setting = _changed(now.config, config)
        if trials.budget.ended:
            return None
        if setting in dull:
            continue
        trial = trials.simulate(config)
        if _gains(trial, now, trials):
            return trial
        if setting != "splits":
            dull.add(setting)
    return None


def _gains(trial: Trial, now: Trial, trials: Trials) -> bool:
    if not (trial.fits and now.fits) or trial.outcome is None or now.outcome is None:
        return trials.rank(trial) < trials.rank(now)
    return trial.outcome.cost(trials.goal) < GAIN * now.outcome.cost(trials.goal)


def _changed(before: RunConfig, after: RunConfig) -> str:
    """The first setting in which two configurations differ, with its direction where it is a number."""
    old, new = before.to_dict(), after.to_dict()
    name = next((name for name in old if old[name] != new[name]), "")
    both = old.get(name), new.get(name)
    if isinstance(both[0], int | float) and isinstance(both[1], int | float):
        return f"{name} {'up' if both[1] > both[0] else 'down'}"
    return name
