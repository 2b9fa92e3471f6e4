"""Inference in 8-bit floats: what is stored in 8 bits, how far results move, and what the trace makes of it."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.composites import float8
from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Kind
from simulator.graph.trace import trace
from simulator.numerics.inference import infer
from simulator.numerics.placing import placed_weights
from tests.simulator.onnx_models import normed_net, perceptron

MODELS = {"dense": perceptron(64, 32, 10), "convolution": normed_net()}


@pytest.mark.parametrize("name", MODELS)
def test_products_alone_are_stored_in_8_bits(name: str) -> None:
    program = load(MODELS[name], name=name, batch=4)
    kinds = {n: w.dtype.name for n, w in placed_weights(program, "fp8").items()}
    narrow = {"w1", "w2"} if name == "dense" else {"w", "dense"}
    assert kinds == {n: float8.FLOAT8 if n in narrow else "float16" for n in kinds}


@pytest.mark.parametrize("name", MODELS)
def test_results_are_near_those_of_fp16_and_not_the_same(name: str) -> None:
    program = load(MODELS[name], name=name, batch=4)
    found = {
        precision: next(
            iter(infer(program, RunConfig(task="infer", batch=4, steps=1, precision=precision)).first.values())
        )
        for precision in ("fp16", "fp8")
    }
    error = np.abs(found["fp8"] - found["fp16"]).max() / np.abs(found["fp16"]).max()
    assert 1e-4 < error < 0.15


def test_small_weights_keep_their_digits() -> None:
    weights = np.float32([0.02, -0.011, 0.0031, 13.0, 1e4])
    kept = float8.stored(weights).astype(np.float32) / float8.WEIGHT_SCALE
    np.testing.assert_allclose(kept[:4], weights[:4], rtol=0.07)
    assert kept[4] == float8.LARGEST / float8.WEIGHT_SCALE


def test_the_trace_has_8_bit_operands_and_no_operator_for_the_scale() -> None:
    program = load(MODELS["convolution"], name="m", batch=4)
    graphs = {p: trace(program, RunConfig(task="infer", batch=4, precision=p)) for p in ("fp16", "fp8")}
    for precision, dtype in (("fp16", "float16"), ("fp8", float8.FLOAT8)):
        graph = graphs[precision]
        products = [i for i in range(len(graph.ops)) if graph.ops.kind[i] in (Kind.CONV, Kind.MATMUL)]
        assert {graph.tensors.dtype[t] for i in products for t in graph.ops.inputs[i]} == {dtype}
        assert {graph.tensors.dtype[t] for i in products for t in graph.ops.outputs[i]} == {"float16"}
    # each product casts its activation first
    assert len(graphs["fp8"].ops) - len(graphs["fp16"].ops) == 2


def test_training_in_8_bits_is_refused() -> None:
    with pytest.raises(SimulatorError, match="for inference") as caught:
        RunConfig(task="train", precision="fp8")
    assert caught.value.code == "config.invalid"
