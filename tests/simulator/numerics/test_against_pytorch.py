"""Ten float32 steps of the built-in network end where PyTorch ends, for every optimiser."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.config import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.learning.step import objective_of
from simulator.numerics.data import training_source
from simulator.numerics.training import train
from simulator.program import Program
from simulator.zoo.opening import build_zoo
from tests.simulator.onnx_models import normed_net

torch = pytest.importorskip("torch", reason="compares with PyTorch, which only the slow suite installs")
pytestmark = pytest.mark.slow

STEPS, BATCH, REPLICAS = 10, 16, 2


def _mnist(weights: dict[str, Any], x: Any) -> Any:
    f = torch.nn.functional
    for layer in ("conv1", "conv2"):
        x = f.relu(f.max_pool2d(f.conv2d(x, weights[f"{layer}.weight"], weights[f"{layer}.bias"]), 2))
    x = f.relu(f.linear(x.flatten(1), weights["dense1.weight"], weights["dense1.bias"]))
    return f.linear(x, weights["dense2.weight"], weights["dense2.bias"])


def _optimiser(name: str, tensors: list[Any], rate: float) -> Any:
    made = {
        "sgd": lambda: torch.optim.SGD(tensors, lr=rate),
        "momentum": lambda: torch.optim.SGD(tensors, lr=rate, momentum=0.9),
        "adam": lambda: torch.optim.Adam(tensors, lr=rate),
        "adamw": lambda: torch.optim.AdamW(tensors, lr=rate),
    }
    return made[name]()


def _config(optimiser: str, rate: float, replicas: int = REPLICAS) -> tuple[RunConfig, int]:
    config = RunConfig(batch=BATCH, steps=STEPS, optimiser=optimiser, learning_rate=rate, dataset="digits", seed=4)
    return config, replicas


def _batches(program: Program, config: RunConfig, replicas: int) -> list[tuple[Any, Any]]:
    source = training_source(program, objective_of(program), config.dataset, config.seed)
    found = []
    for number in range(STEPS):
        parts = [source.batch(number * replicas + r) for r in range(replicas)]
        name = program.inputs[0].name
        x = np.concatenate([p.inputs[name] for p in parts])
        labels = np.concatenate([p.labels for p in parts if p.labels is not None])
        found.append((torch.tensor(x), torch.tensor(labels).long()))
    return found


@pytest.mark.parametrize(("optimiser", "rate"), [("sgd", 0.1), ("momentum", 0.02), ("adam", 1e-3), ("adamw", 1e-3)])
def test_losses_and_weights_agree(optimiser: str, rate: float) -> None:
    program = load(build_zoo("zoo:mnist"), name="mnist", batch=BATCH)
    config, replicas = _config(optimiser, rate)
    ours = train(program, config, replicas=replicas)

    weights = {n: torch.tensor(w, requires_grad=True) for n, w in program.load_weights().items()}
    stepper = _optimiser(optimiser, list(weights.values()), rate)
    losses = []
    for x, labels in _batches(program, config, replicas):
        stepper.zero_grad()
        loss = torch.nn.functional.cross_entropy(_mnist(weights, x), labels)
        loss.backward()
        stepper.step()
        losses.append(float(loss.detach()))
    np.testing.assert_allclose([loss for _, loss in ours.losses], losses, rtol=2e-3, atol=1e-4)
    for name, weight in weights.items():
        # Adam divides by the root of tiny squares: signs of gradients near zero may differ
        loose = 3 * rate if optimiser.startswith("adam") else 2e-4
        np.testing.assert_allclose(ours.weights[name], weight.detach().numpy(), atol=loose)
        assert np.abs(ours.weights[name] - weight.detach().numpy()).mean() < 2e-5


def test_batch_normalisation_trains_as_in_pytorch() -> None:
    program = load(normed_net(), name="normed", batch=BATCH)
    config, replicas = _config("sgd", 0.5, 1)
    ours = train(program, config, replicas=replicas)
    weights = {
        n: torch.tensor(w, requires_grad=program.weights[n].trainable) for n, w in program.load_weights().items()
    }
    stepper = _optimiser("sgd", [w for w in weights.values() if w.requires_grad], 0.5)
    losses = []
    for x, labels in _batches(program, config, replicas):
        f = torch.nn.functional
        stepper.zero_grad()
        c = f.conv2d(x, weights["w"], padding=1)
        n = f.batch_norm(c, None, None, weights["scale"], weights["shift"], training=True, eps=1e-5)
        loss = f.cross_entropy(f.relu(n).mean((2, 3)) @ weights["dense"], labels)
        loss.backward()
        stepper.step()
        losses.append(float(loss.detach()))
    np.testing.assert_allclose([loss for _, loss in ours.losses], losses, rtol=1e-3)
