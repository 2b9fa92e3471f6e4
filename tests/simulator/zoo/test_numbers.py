"""Small models of every family: our numbers are onnxruntime's, and each can be trained."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import Any

import jax
import numpy as np
import onnxruntime
import pytest

from simulator.config import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Kind, Pass
from simulator.graph.trace import trace
from simulator.numerics.data import Batch, draw_labels
from simulator.numerics.training import train
from simulator.zoo.catalogue import ZOO, ZooModel, ZooRun
from simulator.zoo.network import Network
from simulator.zoo.opening import program_of
from tests.simulator.zoo.small import SMALL

BATCH = 2
QUICKLY = {"xla_backend_optimization_level": 0}  # compiling takes longer than running


def _built(name: str) -> Network:
    builder, options = SMALL[name]
    module, _, function = builder.partition(".")
    return getattr(import_module(f"simulator.zoo.{module}"), function)(**options)


def _fed(program: Any) -> dict[str, np.ndarray]:
    """Normal floats, and whole numbers that every table of the small models has."""
    chance = np.random.default_rng(5)

    def one(spec: Any) -> np.ndarray:
        if spec.dtype == "float32":
            return chance.standard_normal(spec.shape, np.float32)
        return chance.integers(0, 2, spec.shape).astype(spec.dtype)

    return {spec.name: one(spec) for spec in program.inputs}


def _disturbed(model: Any) -> bytes:
    """Weights that are all alike would hide a wrong use of them: every one is moved a little."""
    chance = np.random.default_rng(7)
    for tensor in model.graph.initializer:
        if tensor.data_type == 1 and tensor.dims and not tensor.name.startswith("constant."):
            values = np.frombuffer(tensor.raw_data, np.float32)
            tensor.raw_data = (values + 0.1 * chance.random(values.shape, np.float32)).tobytes()
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("name", sorted(SMALL))
def test_inference_agrees_with_onnxruntime(name: str) -> None:
    data = _disturbed(_built(name).model(values=True))
    program = load(data, name=name, batch=BATCH)
    fed = _fed(program)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    expected = session.run([spec.name for spec in program.outputs], fed)
    ours = jax.jit(program.call, compiler_options=QUICKLY)(program.load_weights(), fed)
    for spec, theirs in zip(program.outputs, expected, strict=True):
        assert ours[spec.name].shape == theirs.shape == spec.shape
        assert np.std(theirs) > 0
        np.testing.assert_allclose(ours[spec.name], theirs, rtol=2e-3, atol=2e-3 * float(np.abs(theirs).max()))


@pytest.mark.parametrize("name", sorted(SMALL))
def test_what_a_model_declares_is_what_an_abstract_run_finds(name: str) -> None:
    network = _built(name)
    declared, _ = program_of(network, _entry(name), batch=3, dims={})
    found = load(network.model(values=True).SerializeToString(), name=name, batch=3)
    assert declared.outputs == found.outputs
    assert {key: spec.shape for key, spec in declared.weights.items()} == {
        key: spec.shape for key, spec in found.weights.items()
    }


class _OneBatch:
    """The same samples and labels at every step, so that there is something to learn by heart."""

    def __init__(self, program: Any) -> None:
        self._inputs, objective = _fed(program), program.objective
        self._labels = draw_labels(objective, np.random.default_rng(3))

    def batch(self, index: int) -> Batch:
        return Batch(self._inputs, self._labels)


@pytest.mark.parametrize(
    "name", ["gpt2", pytest.param("bert-packed", marks=pytest.mark.slow), pytest.param("vit", marks=pytest.mark.slow)]
)
def test_training_learns_a_batch_by_heart(name: str) -> None:
    program, _ = program_of(_built(name), _entry(name), batch=BATCH, dims={})
    config = RunConfig(batch=BATCH, steps=12, optimiser="adam", learning_rate=0.003)
    losses = [loss for _, loss in train(program, config, source=_OneBatch(program)).losses]
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize("name", sorted(SMALL))
def test_every_family_can_be_trained(name: str) -> None:
    program, _ = program_of(_built(name), _entry(name), batch=BATCH, dims={})
    graph = trace(program, RunConfig(batch=BATCH, precision="fp16"))
    passes = Counter(Pass(p).name for p in graph.ops.pass_)
    assert passes["BACKWARD"] > 0.6 * passes["FORWARD"]
    assert Kind.FALLBACK not in graph.ops.kind


def _entry(name: str) -> ZooModel:
    return ZooModel(f"zoo:{name}", name, name, 0, "", True, {}, ZooRun({}, ""), SMALL[name][0])


def test_every_family_has_a_small_model() -> None:
    small = {builder for builder, _ in SMALL.values()}
    families = {builder.partition(".")[0] for builder in small}
    built = {model.builder for model in ZOO if model.builder.partition(".")[0] in families}
    assert built <= small
    assert len(families) >= 16


@pytest.mark.parametrize(("name", "part"), [("bert", "pooler"), ("bert-packed", "pooler"), ("conformer", "frames")])
def test_every_part_of_an_objective_is_trained(name: str, part: str) -> None:
    """The next-sentence head of BERT beside its words, the encoder's frames beside the decoder's words."""
    program, _ = program_of(_built(name), _entry(name), batch=BATCH, dims={})
    graph = trace(program, RunConfig(batch=BATCH, precision="fp16"))
    backward = {s for s, p in zip(graph.ops.source, graph.ops.pass_, strict=True) if Pass(p) == Pass.BACKWARD}
    assert any(part in source for source in backward)
    assert program.objective is not None
    assert len(program.objective.parts) == 2
