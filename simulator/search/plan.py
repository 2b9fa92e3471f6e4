"""Finds the configuration that serves a goal best: opens the model, searches, and simulates the winner anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.machines.catalogue import System, slice_of
from simulator.machines.ipu import Ipu
from simulator.pipeline import simulate
from simulator.report.costs import dollars_an_hour
from simulator.report.notes import WITHOUT_EFFECT
from simulator.search.answer import Answer, Status
from simulator.search.candidates import Request, families, smallest_global_batches
from simulator.search.estimate import Estimate
from simulator.search.finder import find
from simulator.search.measure import Measured
from simulator.search.outcome import Goal
from simulator.search.trials import Budget, Ended, Trial, Trials

SECONDS = 120.0
CANDIDATES = 1000
KNOWN = (4, 16)  # micro-batches of the whole model that estimates rest on
SAME = 1e-9  # relative; a second simulation of one configuration must agree to rounding

Progress = Callable[[str, float], None]


def plan(
    model: str | Path,
    config: RunConfig,
    *,
    goal: Goal = "fastest",
    fixed: frozenset[str] = frozenset(),
    global_batch: int | None = None,
    seconds: float = SECONDS,
    candidates: int = CANDIDATES,
    on_progress: Progress | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Answer:
    """The best plan for ``model`` on the slice of ``config``; settings named in ``fixed`` stay as ``config`` has them.

    ``goal`` is of one sample: least time, price or energy. A part of the slice may serve it best, unless ``ipus`` is
    fixed. It is over after ``seconds`` or ``candidates`` simulations, or when ``cancelled()`` says so, with the best
    found until then.
    Raises SimulatorError for a model or settings that no candidate could mend.
    """
    began = time.process_time()
    tell = on_progress or (lambda phase, fraction: None)
    _check_goal(goal)
    tell("open", 0.0)
    measured, request, notes = _opened(model, config, goal, fixed, global_batch)
    _check(request)
    request, estimate = _estimated(measured, request, slice_of(config.system, config.ipus)[0])
    budget = Budget(seconds, candidates, cancelled)
    trials = Trials(measured, goal, budget, lambda done: tell("search", done), measured.cut)
    ended = find(request, estimate, trials, measured.nodes)
    tell("verify", 0.0)
    verified = _verified(model, trials, fixed)
    tell("verify", 1.0)
    return Answer(
        status=_status(trials, ended),
        goal=goal,
        base=request.base,
        best=trials.best,
        nearest=trials.nearest,
        front=tuple(trials.front()),
        trials=tuple(sorted(trials, key=trials.rank)),
        ended=ended,
        verified=verified is not None,
        cpu_seconds=time.process_time() - began,
        notes=notes + (verified or ()),
    )


def _status(trials: Trials, ended: Ended) -> Status:
    if trials.best is not None:
        return "found_so_far" if ended else "found"
    return "not_found" if ended else "infeasible"


def _estimated(measured: Measured, request: Request, system: System) -> tuple[Request, Estimate]:
    """What the whole model takes on one IPU, and what that says of the request."""
    batches = (request.base.batch,) if "batch" in request.fixed else KNOWN
    works = tuple(measured.work(batch) for batch in batches)
    layers = measured.layers if request.base.training else ()
    request = replace(request, keeps_state=works[0].state > 0, layers=layers)
    rate = _rate(system, request.base, request.goal, measured.ipu)
    return request, Estimate(request, works, measured.ipu.tiles * measured.ipu.bytes_per_tile, rate)


def _opened(
    model: str | Path, config: RunConfig, goal: Goal, fixed: frozenset[str], global_batch: int | None
) -> tuple[Measured, Request, tuple[tuple[str, str], ...]]:
    """The model at a batch it takes, and what is asked of it."""
    system, ipus = slice_of(config.system, config.ipus)
    sizes = (ipus,) if "ipus" in fixed else tuple(size for size in system.allowed_sizes if size <= ipus)
    base = replace(config, ipus=ipus, batch=config.batch if "batch" in fixed else KNOWN[0])
    notes: list[tuple[str, str]] = []
    if base.precision == "fp16" and "partials" not in fixed:
        base = replace(base, partials="fp16")
        text = (
            "Partials were left open: fp16 was taken, which is faster and smaller than fp32 but adds up less exactly. "
            "Give partials: fp32 to keep them."
        )
        notes.append(("search.partials_open", text))
    try:
        measured = Measured(model, base)
        nodes = len(measured.nodes)
    except SimulatorError as error:
        if error.code != "config.batch_fixed" or "batch" in fixed:
            raise
        base, fixed = replace(base, batch=int(error.params["batch"])), fixed | {"batch"}
        notes.append(("search.batch_fixed", f"The model works on a batch of {base.batch} and no other."))
        measured = Measured(model, base)
        nodes = len(measured.nodes)
    request = Request(base, goal, fixed, global_batch, sizes=sizes, nodes=nodes)
    if config.training and global_batch is None and "accumulation" not in fixed:
        text = (
            f"The global batch was left open: up to {request.largest_global_batch} samples were tried. More samples a "
            "step are always faster a sample; give the one that your training needs."
        )
        notes.append(("search.global_batch_open", text))
    return measured, request, tuple(notes)


def _check_goal(goal: str) -> None:
    if goal not in get_args(Goal):
        legal = ", ".join(get_args(Goal))
        raise SimulatorError(
            "search.goal", f"There is no goal '{goal:.60}'. Use one of {legal}.", params={"legal": legal}
        )


def _check(request: Request) -> None:
    """Raises ``search.global_batch`` when there is nothing to search."""
    if next(families(request), None) is None:
        legal_batches = smallest_global_batches(request)
        text = f"No replicas and micro-batches make a global batch of {request.global_batch} with these settings."
        if legal_batches:
            text += f" Use {', '.join(map(str, legal_batches))} or a multiple of it, or leave more settings open."
        raise SimulatorError(
            "search.global_batch", text, params={"value": request.global_batch, "legal": list(legal_batches)}
        )


def _rate(system: System, config: RunConfig, goal: Goal, ipu: Ipu) -> Callable[[int], float]:
    """What a second of a slice costs in terms of the goal. Raises ``search.no_price``."""
    if goal == "fastest":
        return lambda ipus: 1.0
    if goal == "least_energy":
        return lambda ipus: system.watts_for(ipus, config.hosts)
    if system.price_for(1) is None:
        text = f"No list price of {system.name} is published, so nothing can be called cheapest. Use another system."
        raise SimulatorError("search.no_price", text, params={"system": system.id})

    def price(ipus: int) -> float:
        return dollars_an_hour(system, ipus, system.watts_for(ipus, config.hosts), ipu) or 0.0

    return lambda ipus: price(ipus) / 3600


def _verified(model: str | Path, trials: Trials, fixed: frozenset[str]) -> tuple[tuple[str, str], ...] | None:
    """Simulate the winner from the file on, by the way that every report takes; one that does not stand is rejected.

    What its report says of settings that change nothing; None when there is no winner.
    """
    origins = dict.fromkeys(fixed, "given")
    while trials.best is not None:
        best = trials.best
        report = simulate(model, best.config, origins=origins)
        if report.fits and _agrees(best, float(report["step_seconds"])):
            return tuple((note["code"], note["message"]) for note in report["notes"] if note["code"] == WITHOUT_EFFECT)
        text = "The plan did not stand when it was simulated anew. This is a fault of the search, not of the model."
        trials.reject(best, SimulatorError("search.unverified", text, owner="platform"))
    return None


def _agrees(trial: Trial, step_seconds: float) -> bool:
    known = trial.outcome.step_seconds if trial.outcome is not None else 0.0
    return abs(step_seconds - known) <= SAME * known
