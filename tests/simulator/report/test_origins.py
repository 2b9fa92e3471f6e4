"""Where settings come from."""

import pytest

from simulator import RunConfig, SimulatorError
from simulator.report.origins import origins_of


def test_what_differs_from_its_default_counts_as_given() -> None:
    found = origins_of(RunConfig(batch=8), None)
    assert (found["batch"], found["precision"]) == ("given", "assumed")
    assert list(found) == list(RunConfig().to_dict())


def test_what_is_known_is_kept_and_the_rest_assumed() -> None:
    found = origins_of(RunConfig(batch=8), {"precision": "published"})
    assert (found["batch"], found["precision"]) == ("assumed", "published")


@pytest.mark.parametrize("known", [{"nothing": "given"}, {"batch": "guessed"}])
def test_an_unknown_origin_is_refused(known: dict[str, str]) -> None:
    with pytest.raises(SimulatorError) as stopped:
        origins_of(RunConfig(), known)
    assert stopped.value.code == "config.origins"
