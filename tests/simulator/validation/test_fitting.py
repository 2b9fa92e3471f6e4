"""The fit finds what made the data, leaves each group out in turn, and writes values without touching their sources."""

from math import log

import numpy as np
import pytest

from simulator.machines.constants import NAMES, NOMINAL
from simulator.validation import fit as command
from simulator.validation.cases import case_of
from simulator.validation.configurations import read_configurations
from simulator.validation.figures import Figure, Subject
from simulator.validation.fitting import (
    Fit,
    Row,
    bounds,
    constants_of,
    left_out,
    log_predictions,
    rows_of,
    solve,
    vector_of,
    weights_of,
)
from simulator.validation.runs import Runs

KNOWN = read_configurations()
RUNS = Runs()


def gather(inputs: int, outputs: int) -> Subject:
    return Subject(
        system="1 Bow IPU", chips="1", model=f"GNN kernel gather {inputs}x128->{outputs}", task="micro",
        framework="PopTorch", metric="cycles", unit="cycles", chip_type="Bow IPU 1.85 GHz",
    )  # fmt: skip


def rows(groups: str) -> tuple[Row, ...]:
    case = case_of(gather(256, 1024), KNOWN)
    return tuple(Row(case, 1.0, group) for group in groups)


def made(groups: str, residuals: list[float]) -> Fit:
    """Rows that only ``matrix`` moves, each by as much as it changes."""
    slopes = np.zeros((len(groups), len(NAMES)))
    slopes[:, NAMES.index("matrix")] = 1.0
    return Fit(NOMINAL, rows(groups), np.array(residuals), slopes)


def test_a_group_is_predicted_by_what_the_others_ask_for() -> None:
    found = made("aaab", [0.1, 0.1, 0.1, -0.2])
    outside = left_out(found)
    # without b the constant falls so that rows of a come near 0, and b is missed by more than when it was fitted
    assert outside[3] < -0.25
    # without a it rises for b's sake
    assert outside[0] > 0.2
    assert outside[0] == outside[1] == outside[2]


def test_one_group_alone_has_nothing_to_be_left_out_for() -> None:
    found = made("aa", [0.1, -0.1])
    assert left_out(found).tolist() == [0.1, -0.1]


def test_the_prior_holds_a_constant_that_one_row_pulls_and_yields_to_many() -> None:
    low, high = bounds()
    matrix = NAMES.index("matrix")
    for count, least in ((1, 0.7), (16, 0.9)):
        found = made("".join(chr(97 + place) for place in range(count)), [0.2] * count)
        solved = solve(found.residuals, found.slopes, vector_of(NOMINAL), weights_of(found.rows))
        assert least * 0.2 < -solved[matrix] < 0.2
        assert np.all(solved >= low)
        assert np.all(solved <= high)
    assert constants_of(vector_of(NOMINAL)) == NOMINAL


def test_many_rows_of_a_source_do_not_outvote_the_others() -> None:
    weights = weights_of(rows("aaaab"))
    assert 4 * weights[0] ** 2 == pytest.approx(2 * weights[4] ** 2)


def test_rows_that_cannot_be_predicted_or_have_no_value_are_left_out_of_the_fit() -> None:
    figures = [
        Figure("1", "s", "f", gather(256, 1024), 4000.0),
        Figure("2", "s", "f", gather(256, 1024), None),
        Figure("3", "s", "f", Subject(model="AlphaFold", metric="cycles"), 4000.0),
        Figure("4", "s", "f", Subject(**{**gather(256, 1024).__dict__, "metric": "init_s"}), 4000.0),
    ]
    found = rows_of(figures, KNOWN, RUNS)
    assert [(row.published, row.group) for row in found] == [(4000.0, "f: s")]
    assert log_predictions(found, RUNS, NOMINAL)[0] == pytest.approx(log(4000), abs=0.5)


def test_values_are_written_into_their_lines_and_sources_stay() -> None:
    before = command.FITTED.read_text("utf-8")
    found = made("ab", [0.1, 0.1])
    after = command.with_values(before, found)
    assert "matrix: {value: 1.0, low:" in after
    assert after.rstrip().endswith("# fitted on 2 rows of validation/figures.csv")
    assert [line.partition("source:")[2] for line in before.splitlines()[:-1]] == [
        line.partition("source:")[2] for line in after.splitlines()[:-1]
    ]
    residuals = command.with_residuals(command.RESIDUALS.read_text("utf-8"), np.array([0.2, -0.1]), found)
    assert "log_residuals: [-0.1000, 0.2000]\n" in residuals
    assert "frameworks: [pytorch]\n" in residuals
    assert "scales:" in residuals


def test_a_constant_that_its_bound_holds_is_the_bound() -> None:
    slopes = np.zeros((3, len(NAMES)))
    slopes[:, NAMES.index("sdk_slope")] = 1.0
    found = solve(np.array([0.3, 0.2, 0.4]), slopes, vector_of(NOMINAL), np.ones(3))  # all too slow: less than none
    assert constants_of(found).sdk_slope == 0.0 == bounds()[0][NAMES.index("sdk_slope")]
