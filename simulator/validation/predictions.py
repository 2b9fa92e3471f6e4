"""A prediction with its interval for each row, or the reason why there is none. It sees subjects, never values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.errors import SimulatorError
from simulator.machines.constants import Constants, constants
from simulator.report.intervals import Doubts, half_width
from simulator.validation.cases import Case, case_of
from simulator.validation.figures import Figure, Subject
from simulator.validation.layouts.entry import Configuration
from simulator.validation.metrics import PHASES, predicted
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Runs

# settings that decide the time of a training or inference run; a kernel is one program without a layout
LAYOUT = frozenset(
    {"batch", "replicas", "stages", "splits", "stage_ipus", "recompute", "precision", "partials", "system"}
)
RUNS = frozenset({"train", "infer"})


@dataclass(frozen=True)
class Prediction:
    """``value`` in the row's unit with a 90 % interval; without one, ``reason`` says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    case: Case | None = None

    @property
    def modelled(self) -> bool:
        return self.value is not None


@dataclass(frozen=True)
class Judged:
    """A row of the file beside what is predicted for it."""

    figure: Figure
    prediction: Prediction

    @property
    def error_percent(self) -> float | None:
        """Signed: above zero where the prediction is larger than what was published."""
        if self.prediction.value is None or not self.figure.published:
            return None
        return 100 * (self.prediction.value / self.figure.published - 1)

    @property
    def covered(self) -> bool | None:
        low, high = self.prediction.low, self.prediction.high
        if low is None or high is None or not self.figure.published:
            return None
        return low <= self.figure.published <= high

    @property
    def half_width_percent(self) -> float | None:
        """Half of the interval's width against the prediction."""
        value, low, high = self.prediction.value, self.prediction.low, self.prediction.high
        return None if not value or low is None or high is None else 50 * (high - low) / value


def predict(subject: Subject, known: Sequence[Configuration], runs: Runs, given: Constants | None = None) -> Prediction:
    """The prediction for one subject under ``given`` constants (None: those of the engine)."""
    try:
        case = case_of(subject, known)
        used = constants(sdk=case.config.sdk) if given is None else given.of_sdk(case.config.sdk)
        value = predicted(case, runs, used)
    except NotModelled as error:
        return Prediction(None, reason=str(error))
    except SimulatorError as error:
        return Prediction(None, reason=f"{error.code}: {error}")
    spread = half_width(doubts(case, runs))
    return Prediction(value, value / spread, value * spread, case=case)


def doubts(case: Case, runs: Runs) -> Doubts:
    """What makes this prediction less certain than the rows that constants were fitted on."""
    counts = LAYOUT if case.subject.task in RUNS else frozenset()
    if case.subject.metric.startswith("latency"):
        counts |= {"queue_depth"}  # a latency is as long as the queue
    assumed = [name for name in case.assumed if name in counts or name == "machine"]  # what its host does
    assumed += [case.subject.metric] if case.subject.metric in PHASES else []
    return Doubts(
        framework=case.config.framework,
        chips=case.place.chips,
        coverage=1.0 if case.place.gpu else runs.coverage(case.model, case.config),
        assumed=tuple(assumed),
        gpu=case.place.gpu,
    )


def judge(figures: Sequence[Figure], known: Sequence[Configuration], runs: Runs) -> list[Judged]:
    """Every row of a file, in its order."""
    return [Judged(figure, predict(figure.subject, known, runs)) for figure in figures]
