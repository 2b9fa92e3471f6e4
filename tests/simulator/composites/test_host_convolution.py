"""Grouped convolution for a CPU against JAX's own: value and both gradients, with strides, padding and dilation."""

from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simulator.composites.host_convolution import grouped_convolution
from simulator.config import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Kind
from simulator.graph.trace import trace
from tests.simulator.onnx_models import model, node, value

CASES = [
    ((2, 8, 9, 10), (6, 4, 3, 3), 2, (1, 1), ((1, 1), (1, 1)), (1, 1)),
    ((2, 8, 9, 10), (8, 2, 3, 2), 4, (2, 3), ((1, 0), (2, 1)), (1, 1)),
    ((1, 6, 12), (9, 2, 3), 3, (2,), ((2, 2),), (2,)),
]


@pytest.mark.parametrize("case", CASES)
def test_value_and_gradients_agree(case: Any) -> None:
    shape, kernel, *settings = case
    chance = np.random.default_rng(0)
    x, w = (jnp.asarray(chance.normal(size=s), jnp.float32) for s in (shape, kernel))

    def squared(function: Any) -> Any:
        return lambda x, w: jnp.sum(jnp.square(function(x, w, *settings)))

    ours = jax.value_and_grad(squared(grouped_convolution), (0, 1))(x, w)
    theirs = jax.value_and_grad(squared(grouped_convolution.fun), (0, 1))(x, w)
    for found, expected in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)


def test_the_weight_gradient_takes_no_seconds() -> None:
    x, w = jnp.ones((4, 64, 28, 28)), jnp.ones((64, 4, 3, 3))
    settings = (16, (1, 1), ((1, 1), (1, 1)), (1, 1))
    slope = jax.jit(jax.grad(lambda w: jnp.sum(grouped_convolution(x, w, *settings))))
    jax.block_until_ready(slope(w))
    began = time.process_time()
    jax.block_until_ready(slope(w))
    assert time.process_time() - began < 0.25


def test_what_is_costed_is_the_convolution() -> None:
    nodes = [
        node("Conv", ["x", "w"], ["c"], group=4),
        node("GlobalAveragePool", ["c"], ["p"]),
        node("Flatten", ["p"], ["y"]),
    ]
    weights = {"w": np.ones((8, 2, 3, 3), np.float32)}
    data = model(nodes, [value("x", ["N", 8, 8, 8])], [value("y", ["N", 8])], weights)
    graph = trace(load(data, name="m", batch=2), RunConfig(batch=2))
    kinds = [graph.ops.kind[i] for i in range(len(graph.ops))]
    assert kinds.count(Kind.CONV) == 2  # forward and the weight gradient
    assert Kind.MATMUL not in kinds
