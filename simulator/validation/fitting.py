"""Fits ``machines/fitted.yaml`` by least squares of log-residuals, with a prior at each documented value.

A published value is read here and nowhere on the way to a prediction. Rows of one source and family weigh together as
the square root of their number, so that a source with many rows does not outvote the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from simulator.errors import SimulatorError
from simulator.machines.constants import NAMES, NOMINAL, Constants, fitted
from simulator.validation.cases import Case, case_of
from simulator.validation.figures import Figure
from simulator.validation.layouts.entry import Configuration
from simulator.validation.metrics import predicted
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Runs

Floats = npt.NDArray[np.float64]
# metrics that a step's time alone decides; phases and time to train also rest on assumed schedules
FITTED_METRICS = frozenset(
    {"throughput", "epoch_time_s", "epoch_time_s_mean", "epoch_time_s_median", "latency_ms_avg", "latency_ms_p50"}
    | {"latency_ms_p99", "cycles", "time_s", "time_us", "bandwidth"}
)
AT_BOUND = 1e-6  # no constant is known this well
ADDITIVE = frozenset({"sdk_slope"})  # constants that are no scale
PRIOR_LOG = 0.5  # a scale that is off by this factor of e costs as much as a residual of ``RESIDUAL_LOG``
PRIOR_SLOPE = 0.1
RESIDUAL_LOG = 0.1
STEP = 0.02
ROUNDS = 6


@dataclass(frozen=True)
class Row:
    """A published row that can be predicted."""

    case: Case
    published: float
    group: str


@dataclass(frozen=True)
class Fit:
    """Constants found, predictions' log-residuals under them, and how those move with each constant."""

    constants: Constants
    rows: tuple[Row, ...]
    residuals: Floats
    slopes: Floats  # [rows, constants]


def rows_of(figures: Sequence[Figure], known: Sequence[Configuration], runs: Runs) -> list[Row]:
    """Rows that are fitted on: modelled, with a value, of a metric that a step decides."""
    found = []
    for figure in figures:
        if figure.published and figure.subject.metric in FITTED_METRICS:
            try:
                case = case_of(figure.subject, known)
                predicted(case, runs, NOMINAL)
            except (NotModelled, SimulatorError):
                continue
            found.append(Row(case, figure.published, figure.group))
    return found


def log_predictions(rows: Sequence[Row], runs: Runs, constants: Constants) -> Floats:
    """Logarithm of the prediction of each row. Shape [rows]."""
    return np.array([log(predicted(row.case, runs, constants.of_sdk(row.case.config.sdk))) for row in rows])


def vector_of(constants: Constants) -> Floats:
    """Constants as the fit sees them: logarithms of scales, slopes as they are."""
    return np.array([_to(name, getattr(constants, name)) for name in NAMES])


def constants_of(vector: Floats) -> Constants:
    """The inverse of ``vector_of``."""
    return replace(NOMINAL, **{name: _from(name, float(v)) for name, v in zip(NAMES, vector, strict=True)})


def _to(name: str, value: float) -> float:
    return value if name in ADDITIVE else log(value)


def _from(name: str, value: float) -> float:
    return value if name in ADDITIVE else float(np.exp(value))


def weights_of(rows: Sequence[Row]) -> Floats:
    """Weight of each row: a group of n rows counts as much as sqrt(n) independent ones."""
    sizes = Counter(row.group for row in rows)
    return np.array([sizes[row.group] ** -0.25 for row in rows])


def bounds() -> tuple[Floats, Floats]:
    """The least and the most that each constant may become."""
    facts = fitted()
    low = np.array(
        [_to(name, max(facts[name].low, 1e-3) if name not in ADDITIVE else facts[name].low) for name in NAMES]
    )
    return low, np.array([_to(name, facts[name].high) for name in NAMES])


def slopes_at(rows: Sequence[Row], runs: Runs, vector: Floats, at: Floats) -> Floats:
    """How log-predictions move with each constant. Shape [rows, constants]."""
    found = np.zeros((len(rows), len(vector)))
    for index in range(len(vector)):
        moved = vector.copy()
        moved[index] += STEP
        found[:, index] = (log_predictions(rows, runs, constants_of(moved)) - at) / STEP
    return found


def solve(residuals: Floats, slopes: Floats, vector: Floats, weights: Floats) -> Floats:
    """The constants that a linear model of the predictions around ``vector`` asks for, priors and bounds held."""
    low, high = bounds()
    prior = vector_of(NOMINAL)
    spread = np.array([PRIOR_SLOPE if name in ADDITIVE else PRIOR_LOG for name in NAMES])

    def errors(candidate: Floats) -> Floats:
        return np.concatenate(
            [weights * (residuals + slopes @ (candidate - vector)) / RESIDUAL_LOG, (candidate - prior) / spread]
        )

    start = np.clip(vector, low + AT_BOUND, high - AT_BOUND)
    found: Floats = least_squares(errors, start, bounds=(low, high), loss="soft_l1").x
    # the solver stops a hair inside of a bound that holds it
    return np.where(found - low < AT_BOUND, low, np.where(high - found < AT_BOUND, high, found))


def fit(rows: Sequence[Row], runs: Runs) -> Fit:
    """Repeats the linear solution until the constants stay where they are."""
    published = np.log([row.published for row in rows])
    weights, vector = weights_of(rows), vector_of(NOMINAL)
    for _ in range(ROUNDS):
        at = log_predictions(rows, runs, constants_of(vector))
        slopes = slopes_at(rows, runs, vector, at)
        new = solve(at - published, slopes, vector, weights)
        settled = float(np.abs(new - vector).max()) < 2e-3
        vector = new
        if settled:
            break
    at = log_predictions(rows, runs, constants_of(vector))
    return Fit(constants_of(vector), tuple(rows), at - published, slopes_at(rows, runs, vector, at))


def left_out(found: Fit) -> Floats:
    """Log-residual of each row under constants refitted without its group. Shape [rows]."""
    groups = [row.group for row in found.rows]
    weights, vector = weights_of(found.rows), vector_of(found.constants)
    result = found.residuals.copy()
    for group in sorted(set(groups)):
        out = np.array([each == group for each in groups])
        if out.all():
            continue
        refitted = solve(found.residuals[~out], found.slopes[~out], vector, weights[~out])
        result[out] = found.residuals[out] + found.slopes[out] @ (refitted - vector)
    return result


def root_mean_square(residuals: Floats) -> float:
    """Of log-residuals."""
    return sqrt(float(np.mean(residuals**2))) if len(residuals) else 0.0
