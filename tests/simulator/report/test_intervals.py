"""Intervals are quantiles of pooled errors outside the fit, wider by each doubt, and as wide as the pool asks for."""

from math import exp, log

import pytest

from simulator.datafiles import read_data
from simulator.machines.constants import fitted
from simulator.report.intervals import COVERAGE, Doubts, basis, doubts, half_width, quantile, widening
from simulator.validation.cases import case_of
from simulator.validation.configurations import read_configurations
from simulator.validation.figures import read_figures
from simulator.validation.fitting import FITTED_METRICS
from simulator.validation.refusals import NotModelled

KNOWN = read_data("simulator.report", "residuals.yaml")
SURE = Doubts("popart", 16)


def test_the_quantile_counts_the_error_to_come() -> None:
    assert quantile([0.1 * place for place in range(1, 20)]) == pytest.approx(1.8)  # the 18th of 19: 0.9 x 20
    assert quantile([-0.3, 0.1]) == 0.3  # too few to leave any out


@pytest.mark.parametrize(
    ("doubt", "name"),
    [
        (Doubts("podium", 16), "unseen_framework"),
        (Doubts("popart", 65), "above_64_ipus"),
        (Doubts("popart", 16, assumed=("batch",)), "assumed_configuration"),
        (Doubts("podium", 8, gpu=True), "gpu"),
        (Doubts("popart", 16, coverage=0.5), "low_coverage"),
    ],
)
def test_each_doubt_widens_by_its_own_factor_and_is_told(doubt: Doubts, name: str) -> None:
    factor, reasons = widening(doubt)
    assert reasons == (name,)
    scale = 2.0 if name == "low_coverage" else KNOWN["scales"][name]["value"]  # half of the time: 1 + 2 x 0.5
    assert factor == pytest.approx(scale)
    assert log(half_width(doubt)) == pytest.approx(factor * log(half_width(SURE)))
    assert basis(reasons) != basis(())


def test_doubts_multiply_and_sixty_four_ipus_are_none() -> None:
    assert widening(SURE) == (1.0, ())
    assert widening(Doubts("popart", 64)) == (1.0, ())
    both, _ = widening(Doubts("popart", 128, assumed=("splits",)))
    scales = KNOWN["scales"]
    assert both == pytest.approx(scales["above_64_ipus"]["value"] * scales["assumed_configuration"]["value"])


def test_a_setting_is_doubted_only_when_it_is_assumed_and_decides_the_time() -> None:
    origins = {"precision": "assumed", "batch": "assumed", "partials": "published"}
    assert doubts("popart", 16, 1.0, origins).assumed == ("precision",)


def test_the_pool_covers_what_it_says_and_is_narrower_than_a_fifth() -> None:
    pool = KNOWN["log_residuals"]
    width = quantile(pool)
    inside = sum(abs(each) <= width for each in pool) / len(pool)
    assert COVERAGE <= inside <= 0.95
    assert exp(width) - exp(-width) < 2 * 0.2


def test_the_pool_is_of_the_rows_fitted_and_frameworks_are_those_among_them() -> None:
    known, seen, rows = read_configurations(), set(), 0
    for figure in read_figures():
        if figure.subject.metric not in FITTED_METRICS:
            continue
        try:
            case = case_of(figure.subject, known)
        except NotModelled:
            continue
        rows += 1
        seen |= set() if case.place.gpu else {case.config.framework}
    assert set(KNOWN["frameworks"]) == seen
    assert len(KNOWN["log_residuals"]) <= rows
    assert len(fitted()) < len(KNOWN["log_residuals"])
