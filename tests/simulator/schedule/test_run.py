"""Epochs and runs are whole steps and evaluations."""

import pytest

from simulator import SimulatorError
from simulator.machines.constants import NOMINAL
from simulator.schedule.run import evaluation_seconds, run_time
from tests.simulator.layers import config_of, laid


def test_without_a_number_of_samples_there_is_no_run() -> None:
    found = laid()
    assert run_time(found.priced(NOMINAL), found.parallel, config_of(), found.ipu) is None


def test_an_epoch_is_whole_steps_and_a_run_epochs_and_evaluations() -> None:
    settings = {"accumulation": 4, "samples": 10_000, "epochs": 2.5, "evaluation_samples": 1000, "evaluations": 3}
    found = laid(**settings)
    line = found.priced(NOMINAL)
    told = run_time(line, found.parallel, config_of(**settings), found.ipu)
    assert told is not None
    assert told.steps_an_epoch == -(-10_000 // (32 * 4 * 4)) == 20
    step = line.total / found.ipu.clock_hz
    assert told.epoch_seconds == pytest.approx(20 * step)
    assert told.run_seconds == pytest.approx(2.5 * told.epoch_seconds + 3 * told.evaluation_seconds)
    assert told.to_dict()["evaluations"] == 3


def test_an_evaluation_only_goes_forwards() -> None:
    found = laid(accumulation=4)
    line = found.priced(NOMINAL)
    samples = 32 * 4 * 4  # of one step
    told = evaluation_seconds(line, found.parallel, samples, found.ipu)
    forward = 4 * int(line.forward.sum()) / found.ipu.clock_hz
    assert forward < told < line.total / found.ipu.clock_hz
    assert evaluation_seconds(line, found.parallel, 0, found.ipu) == 0
    assert evaluation_seconds(line, found.parallel, 2 * samples, found.ipu) == pytest.approx(2 * told, rel=1e-6)


@pytest.mark.parametrize(("name", "value"), [("samples", 0), ("epochs", 0.0), ("evaluations", -1)])
def test_runs_of_nothing_are_refused(name: str, value: float) -> None:
    with pytest.raises(SimulatorError, match=name):
        config_of(**{name: value})
