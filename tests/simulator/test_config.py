"""Run settings: what is refused names the field and what is legal."""

from typing import Any

import pytest

from simulator import RunConfig, SimulatorError


def test_settings_survive_a_round_trip() -> None:
    config = RunConfig(task="infer", batch=4, dims={"T": 8}, ipus=2)
    assert RunConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"task": "fly"}, "task"),
        ({"batch": 0}, "batch"),
        ({"batch": True}, "batch"),
        ({"batch": 1.5}, "batch"),
        ({"steps": "10"}, "steps"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"learning_rate": -1}, "learning_rate"),
        ({"dims": {"T": 0}}, "dims"),
        ({"dims": [1]}, "dims"),
        ({"ipus": 0}, "ipus"),
        ({"system": ""}, "system"),
        ({"bacth": 16}, "bacth"),
        ({"optimiser": ["sgd"]}, "optimiser"),
    ],
)
def test_wrong_settings_are_refused_by_name(values: dict[str, Any], field: str) -> None:
    with pytest.raises(SimulatorError) as caught:
        RunConfig.from_dict(values)
    assert caught.value.code == "config.invalid"
    assert caught.value.params["field"] == field
    assert caught.value.exit_code == 2
