"""Built-in models: the same bytes each time, and as described."""

from __future__ import annotations

import hashlib
from importlib import import_module

import onnx
import pytest

from simulator import ZOO, SimulatorError, build_zoo
from simulator.frontends.onnx.importer import load
from simulator.zoo.catalogue import MODULES


@pytest.mark.parametrize("model", ZOO, ids=lambda m: m.id)
def test_models_are_as_described(model: object) -> None:
    data = build_zoo(model.id)  # type: ignore[attr-defined]
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    program = load(data, name="zoo", batch=2)
    assert program.parameters == model.parameters  # type: ignore[attr-defined]
    declared = [(n, tuple(2 if d == "batch" else d for d in s)) for n, s in model.inputs]  # type: ignore[attr-defined]
    assert [(s.name, s.shape) for s in program.inputs] == declared


@pytest.mark.parametrize("name", sorted(MODULES.values()))
def test_building_twice_gives_the_same_bytes(name: str) -> None:
    module = import_module(name)
    assert hashlib.sha256(module.build()).digest() == hashlib.sha256(module.build()).digest()


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(SimulatorError, match="zoo:mnist") as caught:
        build_zoo("zoo:nothing")
    assert caught.value.code == "model.unknown_zoo"
