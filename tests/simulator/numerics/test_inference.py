"""Inference on the CPU: repeatable, in the declared types, and close in half precision."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load
from simulator.numerics.data import Noise
from simulator.numerics.digits import fit, resized
from simulator.numerics.inference import infer
from simulator.program import TensorSpec
from simulator.zoo.opening import build_zoo
from tests.simulator.onnx_models import model, node, outputs_of, perceptron, value


def test_runs_repeat_bit_by_bit_and_follow_the_seed() -> None:
    program = load(build_zoo("zoo:mnist"), name="m", batch=4)
    first, again, other = (infer(program, RunConfig(task="infer", batch=4, steps=3, seed=s)) for s in (0, 0, 1))
    assert first.digest == again.digest != other.digest
    assert first.batches == 3
    assert first.first["scores"].shape == (4, 10)


def test_half_precision_is_close_and_not_equal() -> None:
    program = load(build_zoo("zoo:mnist"), name="m", batch=4)
    inputs = Noise(program, 0).batch(0).inputs
    wide, half = outputs_of(program, inputs)["scores"], outputs_of(program, inputs, "fp16")["scores"]
    assert half.dtype == np.float32
    assert not np.array_equal(wide, half)
    np.testing.assert_allclose(half, wide, atol=0.02)


def test_outputs_have_the_declared_types() -> None:
    nodes = [node("Cast", ["x"], ["y"], to=TensorProto.INT64)]
    data = model(nodes, [value("x", ["N", 2])], [value("y", ["N", 2], TensorProto.INT64)])
    found = outputs_of(load(data, name="m", batch=1), {"x": np.array([[1.9, -1.9]], np.float32)})["y"]
    assert found.dtype == np.int64
    assert found.tolist() == [[1, -1]]


def test_it_stops_when_asked() -> None:
    asked = iter([False, True])
    program = load(perceptron(), name="m", batch=2)
    done = infer(program, RunConfig(task="infer", batch=2, steps=9), should_stop=lambda: next(asked))
    assert done.stopped
    assert done.batches == 1


def test_digits_fill_images_of_any_layout() -> None:
    images = np.random.default_rng(0).uniform(size=(2, 8, 8)).astype(np.float32)
    assert fit(images, TensorSpec("x", (2, 784), "float32")).shape == (2, 784)
    assert fit(images, TensorSpec("x", (2, 3, 32, 32), "float32")).shape == (2, 3, 32, 32)
    assert fit(images, TensorSpec("x", (2, 28, 28, 1), "float32")).shape == (2, 28, 28, 1)
    np.testing.assert_allclose(resized(images, 8, 8), images, rtol=1e-6)
    assert abs(resized(images, 28, 28).mean() - images.mean()) < 0.05


def test_digits_need_an_image() -> None:
    data = model([node("Relu", ["x"], ["y"])], [value("x", ["N", 5, 5])], [value("y", ["N", 5, 5])])
    with pytest.raises(SimulatorError) as caught:
        infer(load(data, name="m", batch=2), RunConfig(task="infer", batch=2, dataset="digits"))
    assert caught.value.code == "dataset.mismatch"
