"""A training run that goes on from a checkpoint ends with the same bits as one that was never interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simulator
from simulator import Checkpoints, RunConfig, SimulatorError
from simulator.numerics.checkpoint import read


def run(config: RunConfig, **rest: Any) -> Any:
    return simulator.run("zoo:mnist", config, on_event=rest.pop("on_event", lambda kind, data: None), **rest)


def config(**rest: Any) -> RunConfig:
    return RunConfig(**{"task": "train", "steps": 12, "batch": 4, "system": "pod4", "ipus": 2, **rest})


@pytest.mark.parametrize(
    "settings", [{"optimiser": "adam", "dataset": "digits"}, {"optimiser": "momentum", "precision": "fp16"}]
)
def test_going_on_changes_no_bit(tmp_path: Path, settings: dict[str, Any]) -> None:
    whole = run(config(**settings))
    told: list[tuple[str, dict[str, Any]]] = []

    def stop_after_five() -> bool:
        return any(kind == "progress" and data["done"] >= 5 for kind, data in told)

    first = run(
        config(**settings),
        on_event=lambda kind, data: told.append((kind, data)),
        should_stop=stop_after_five,
        checkpoints=Checkpoints(tmp_path, every_seconds=0.0),
    )
    written = [data for kind, data in told if kind == "checkpoint"]
    assert first.stopped
    assert written[-1]["step"] == first.steps < 12
    assert len(list(tmp_path.glob("*.npz"))) <= 2
    rest = run(config(**settings), checkpoints=Checkpoints(tmp_path, resume=tmp_path / written[-1]["file"]))
    assert rest.losses == whole.losses
    assert rest.output_digest == whole.output_digest


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
def test_rubbish_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "checkpoint-1.npz"
    path.write_bytes(content)
    with pytest.raises(SimulatorError, match="cannot be read") as refused:
        read(path)
    assert (refused.value.code, refused.value.owner) == ("checkpoint.unreadable", "platform")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-1.npz"
    np.savez(path, header=np.array([{"version": 1}], dtype=object))
    with pytest.raises(SimulatorError, match="cannot be read"):
        read(path)


def test_of_another_model_is_refused(tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    run(
        config(optimiser="sgd", steps=3),
        on_event=lambda kind, data: told.append(data) if kind == "checkpoint" else None,
        checkpoints=Checkpoints(tmp_path, every_seconds=0.0),
    )
    with pytest.raises(SimulatorError) as refused:
        run(config(optimiser="adam"), checkpoints=Checkpoints(tmp_path, resume=tmp_path / told[-1]["file"]))
    assert refused.value.code == "checkpoint.mismatch"
