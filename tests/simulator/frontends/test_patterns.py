"""Decomposed composites are put together again: forms that exporters write, and what must not match."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.config import RunConfig
from simulator.frontends.onnx.importer import bind_program, load, read
from simulator.graph.graph import Kind
from simulator.graph.trace import trace
from simulator.numerics.training import train
from tests.simulator.onnx_models import model, node, outputs_of, value

SCALARS: dict[str, Any] = {
    "half": 0.5, "one": 1.0, "two": 2.0, "three": 3.0, "root2": 2**0.5, "inverse_root2": 0.5**0.5, "cubic": 0.044715,
    "slope": (2 / np.pi) ** 0.5, "epsilon": 1e-5, "minus_half": -0.5,
}  # fmt: skip
Nodes = list[Any]


def _chain(*rows: tuple[str, str, str]) -> Nodes:
    """Nodes from "operator", "inputs", "output"."""
    return [node(op, inputs.split(), [output], name=output) for op, inputs, output in rows]


def _norm_head(keep: int = 1) -> Nodes:
    return [
        node("ReduceMean", ["x"], ["mean"], axes=[-1], keepdims=keep),
        *_chain(("Sub", "x mean", "d"), ("Pow", "d two", "square")),
        node("ReduceMean", ["square"], ["variance"], axes=[-1], keepdims=keep),
        *_chain(("Add", "variance epsilon", "safe")),
    ]


FORMS: dict[str, tuple[str, Nodes]] = {
    "silu": ("silu", _chain(("Sigmoid", "x", "s"), ("Mul", "s x", "y"))),
    "gelu of PyTorch": ("gelu_erf", _chain(
        ("Div", "x root2", "a"), ("Erf", "a", "b"), ("Add", "b one", "c"), ("Mul", "x c", "d"), ("Mul", "d half", "y"),
    )),
    "gelu, half first": ("gelu_erf", _chain(
        ("Mul", "x inverse_root2", "a"), ("Erf", "a", "b"), ("Add", "one b", "c"), ("Mul", "half c", "d"),
        ("Mul", "x d", "y"),
    )),
    "gelu, halved at the end": ("gelu_erf", _chain(
        ("Div", "x root2", "a"), ("Erf", "a", "b"), ("Add", "b one", "c"), ("Mul", "x c", "d"), ("Div", "d two", "y"),
    )),
    "gelu by tanh": ("gelu", _chain(
        ("Pow", "x three", "a"), ("Mul", "a cubic", "b"), ("Add", "x b", "c"), ("Mul", "c slope", "d"),
        ("Tanh", "d", "t"), ("Add", "t one", "g"), ("Mul", "half g", "h"), ("Mul", "x h", "y"),
    )),
    "gelu by tanh, by products": ("gelu", _chain(
        ("Mul", "x x", "a"), ("Mul", "a cubic", "b"), ("Add", "b one", "c"), ("Mul", "x slope", "p"),
        ("Mul", "p c", "d"), ("Tanh", "d", "t"), ("Add", "one t", "g"), ("Mul", "x half", "h"), ("Mul", "h g", "y"),
    )),
    "layer norm of PyTorch": ("normalise_forward", [*_norm_head(), *_chain(
        ("Sqrt", "safe", "deviation"), ("Div", "d deviation", "n"), ("Mul", "n scale", "m"), ("Add", "m shift", "y"),
    )]),
    "layer norm by a power": ("normalise_forward", [*_norm_head(), *_chain(
        ("Pow", "safe minus_half", "inverse"), ("Mul", "d inverse", "n"), ("Mul", "n scale", "m"),
        ("Add", "m shift", "y"),
    )]),
    "layer norm of TensorFlow": ("normalise_forward", [*_norm_head(), *_chain(
        ("Sqrt", "safe", "deviation"), ("Reciprocal", "deviation", "inverse"), ("Mul", "inverse scale", "gain"),
        ("Mul", "x gain", "m"), ("Mul", "mean gain", "p"), ("Sub", "shift p", "q"), ("Add", "m q", "y"),
    )]),
    "root mean square norm": ("rms_norm_forward", [
        *_chain(("Pow", "x two", "square")),
        node("ReduceMean", ["square"], ["mean"], axes=[-1]),
        *_chain(("Add", "mean epsilon", "safe"), ("Sqrt", "safe", "r"), ("Reciprocal", "r", "inverse")),
        *_chain(("Mul", "x inverse", "n"), ("Mul", "n scale", "y")),
    ]),
    "softmax": ("softmax_forward", [
        node("ReduceMax", ["x"], ["most"], axes=[-1]), *_chain(("Sub", "x most", "less"), ("Exp", "less", "e")),
        node("ReduceSum", ["e", "last"], ["total"]), *_chain(("Div", "e total", "y")),
    ]),
}  # fmt: skip


def _data(nodes: Nodes, outputs: tuple[str, ...] = ("y",)) -> bytes:
    read_names = {name for n in nodes for name in n.input}
    chance = np.random.default_rng(3)
    weights: dict[str, np.ndarray] = {k: np.array(v, np.float32) for k, v in SCALARS.items() if k in read_names}
    if "last" in read_names:
        weights["last"] = np.array([-1], np.int64)
    for name in ("scale", "shift"):
        if name in read_names:
            weights[name] = chance.normal(1, 0.3, 16).astype(np.float32)
    if "w" in read_names:
        weights["w"] = chance.normal(0, 0.5, (16, 16)).astype(np.float32)
    return model(nodes, [value("x", ["N", 6, 16])], [value(o, ["N", 6, 16]) for o in outputs], weights)


def _primitives(program: Any) -> list[str]:
    graph = trace(program, RunConfig(task="infer", batch=2))
    return [p for p, kind in zip(graph.ops.primitive, graph.ops.kind, strict=True) if kind != Kind.MOVEMENT]


@pytest.mark.parametrize("name", FORMS)
def test_a_form_becomes_one_composite_of_the_same_numbers(name: str) -> None:
    composite, nodes = FORMS[name]
    data = _data(nodes)
    whole, apart = load(data, name="m", batch=2), bind_program(read(data), name="m", batch=2, dims={})
    assert composite in _primitives(whole)
    assert composite not in _primitives(apart)
    assert len(_primitives(whole)) < len(_primitives(apart))
    assert [code for code, _ in whole.notes] == ["model.recognised"]
    x = np.random.default_rng(1).normal(size=(2, 6, 16)).astype(np.float32) * 2
    np.testing.assert_allclose(outputs_of(whole, {"x": x})["y"], outputs_of(apart, {"x": x})["y"], rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", ["gelu of PyTorch", "layer norm of PyTorch", "root mean square norm", "softmax"])
def test_training_is_the_same_whole_and_apart(name: str) -> None:
    _, nodes = FORMS[name]
    data = _data(
        [*nodes[:-1], node(nodes[-1].op_type, list(nodes[-1].input), ["z"]), node("MatMul", ["z", "w"], ["y"])]
    )
    parsed = read(data)
    config = RunConfig(batch=4, steps=4, learning_rate=0.3)
    weights = [
        train(bind_program(parsed, name="m", batch=4, dims={}, recognising=together), config).weights
        for together in (True, False)
    ]
    for key, found in weights[0].items():
        np.testing.assert_allclose(found, weights[1][key], rtol=1e-4, atol=1e-5)


def test_what_others_read_is_not_taken_away() -> None:
    _, nodes = FORMS["gelu of PyTorch"]
    program = load(_data(nodes, ("y", "b")), name="m", batch=2)
    assert "gelu_erf" not in _primitives(program)
    assert program.notes == ()


@pytest.mark.parametrize(
    ("name", "constant", "other"),
    [("gelu of PyTorch", "half", 0.6), ("gelu of PyTorch", "one", 1.1), ("gelu by tanh", "cubic", 0.05)],
)
def test_other_numbers_are_another_function(
    name: str, constant: str, other: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCALARS, constant, other)
    assert load(_data(FORMS[name][1]), name="m", batch=2).notes == ()


def test_a_gate_of_a_gate_keeps_the_inner_one() -> None:
    """sigmoid(x) * sigmoid(sigmoid(x)): the outer pair is one SiLU of sigmoid(x)."""
    nodes = _chain(("Sigmoid", "x", "a"), ("Sigmoid", "a", "b"), ("Mul", "a b", "y"))
    program = load(_data(nodes), name="m", batch=2)
    assert sorted(_primitives(program)) == ["logistic", "silu"]
    x = np.linspace(-3, 3, 192, dtype=np.float32).reshape(2, 6, 16)
    a = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(outputs_of(program, {"x": x})["y"], a / (1 + np.exp(-a)), rtol=1e-5)
