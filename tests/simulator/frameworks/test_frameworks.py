"""Every framework that a run may name has mechanisms with a source."""

import pytest

from simulator import SimulatorError
from simulator.config import CHOICES
from simulator.frameworks.catalogue import framework, frameworks


def test_each_choice_of_a_run_is_described_with_its_source() -> None:
    assert set(frameworks()) == set(CHOICES["framework"])
    for found in frameworks().values():
        assert found.fusion in ("none", "node", "wide")
        assert found.partials in CHOICES["partials"]
        assert found.queue_depth >= 1
        assert len(found.source) > 20


def test_frameworks_differ_in_what_they_do() -> None:
    assert framework("tensorflow").fusion != framework("popart").fusion
    assert (framework("poprt").queue_depth, framework("poprt").partials) == (5, "fp16")


def test_an_unknown_framework_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(SimulatorError, match="popart") as refused:
        framework("caffe")
    assert refused.value.code == "config.invalid"
