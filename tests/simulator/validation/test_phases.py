"""Phases of a sweep as a profile tells them: each is priced on its own, and they make up the whole."""

from dataclasses import replace

import pytest

from simulator.machines.constants import Constants, constants
from simulator.validation.cases import Case, case_of
from simulator.validation.figures import Subject
from simulator.validation.metrics import predicted
from simulator.validation.phases import phase_of
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Runs

RUNS = Runs()


def subject(model: str, chips: int = 1) -> Subject:
    known = dict.fromkeys(Subject.__dataclass_fields__, "")
    known |= {
        "system": f"{chips} x GC2 (Mk1)", "chips": str(chips), "model": model, "task": "micro", "framework": "Poplar",
        "precision": "fp32", "metric": "cycles", "unit": "cycles", "chip_type": "GC2 Mk1 1.6 GHz",
    }  # fmt: skip
    return Subject(**known)


def case(phase: str, chips: int = 1) -> Case:
    return case_of(subject(f"Gaussian blur step phase {phase}", chips), [])


def cycles(phase: str, chips: int = 1, priced: Constants | None = None) -> float:
    return predicted(case(phase, chips), RUNS, priced or constants())


def test_words_name_a_phase_or_a_whole_step() -> None:
    assert phase_of("Gaussian blur step phase halo/pre") == "pre"
    assert phase_of("Gaussian blur (cheese image)") == ""


def test_the_image_and_the_sweeps_are_those_of_the_source() -> None:
    found = case("compute/compute").config.dims
    assert (found["width"], found["height"], found["channels"], found["steps"]) == (2200, 1122, 4, 200)


def test_phases_make_up_a_sweep_but_for_its_barriers() -> None:
    told = sum(cycles(phase) for phase in ("halo/pre", "halo/post", "halo/exchange", "compute/compute"))
    whole = predicted(replace(case(""), subject=subject("Gaussian blur")), RUNS, constants()) / 200
    assert told < whole < 1.02 * told


def test_faces_between_ipus_are_a_phase_of_several_only() -> None:
    assert cycles("halo/globExchange") == 0
    face = 2200 * 4 * 4 / (16e9 * 0.85 * 2) * 1.6e9  # a row of pixels over two links
    assert cycles("halo/globExchange", 16) == pytest.approx(face * constants().exchange, rel=0.001)


def test_each_phase_has_its_own_price() -> None:
    dear = replace(constants(), exchange=2 * constants().exchange)
    assert cycles("halo/exchange", 1, dear) == pytest.approx(2 * cycles("halo/exchange"), rel=0.01)
    assert cycles("compute/compute", 1, dear) == cycles("compute/compute")


def test_a_phase_nobody_tells_apart_is_refused() -> None:
    with pytest.raises(NotModelled, match="no phase"):
        cycles("sync/sync")
