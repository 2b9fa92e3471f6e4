"""Composites: numbers and derivatives against JAX's own decompositions, and what the trace sees of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simulator.composites import norms
from simulator.composites.activations import gelu, gelu_tanh, logistic, relu, silu, tanh
from simulator.composites.catalogue import COMPOSITES
from simulator.composites.dropout import dropout
from simulator.composites.losses import cross_entropy, mean_squared_error
from simulator.composites.softmax import log_softmax, softmax
from simulator.composites.stochastic_rounding import round_stochastically
from simulator.planner.elementwise import known

CHANCE = np.random.default_rng(11)
X = jnp.asarray(CHANCE.normal(size=(6, 5, 4)).astype(np.float32))
SCALE = jnp.asarray(CHANCE.normal(1, 0.2, 5).astype(np.float32))
BIAS = jnp.asarray(CHANCE.normal(0, 0.2, 5).astype(np.float32))
LABELS = jnp.asarray(CHANCE.integers(0, 4, 6).astype(np.int32))


def _plain_layer_norm(x: Any) -> Any:
    mean = x.mean((1, 2), keepdims=True)
    return (x - mean) / jnp.sqrt(x.var((1, 2), keepdims=True) + 1e-5) * 1.5 + 0.5


def _plain_batch_norm(x: Any) -> Any:
    mean, variance = x.mean((0, 2)), x.var((0, 2))
    unit = (x - mean[None, :, None]) / jnp.sqrt(variance[None, :, None] + 1e-5)
    return unit * SCALE[None, :, None] + BIAS[None, :, None]


def _plain_group_norm(x: Any) -> Any:
    rows = x.reshape(6, -1)
    unit = (rows - rows.mean(1, keepdims=True)) / jnp.sqrt(rows.var(1, keepdims=True) + 1e-5)
    return unit.reshape(x.shape) * SCALE[None, :, None] + BIAS[None, :, None]


PAIRS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "softmax": (lambda x: softmax(x, 1), lambda x: jax.nn.softmax(x, 1)),
    "log_softmax": (lambda x: log_softmax(x, -1), lambda x: jax.nn.log_softmax(x, -1)),
    "layer_norm": (
        lambda x: norms.layer_norm(x, jnp.float32(1.5), jnp.float32(0.5), axis=1, epsilon=1e-5),
        _plain_layer_norm,
    ),
    "group_norm": (lambda x: norms.group_norm(x, SCALE, BIAS, groups=1, epsilon=1e-5), _plain_group_norm),
    "batch_norm": (lambda x: norms.batch_norm_training(x, SCALE, BIAS, jnp.float32(1e-5))[0], _plain_batch_norm),
    "relu": (relu, lambda x: jnp.where(x > 0, x, 0)),
    "logistic": (logistic, jax.nn.sigmoid),
    "tanh": (tanh, jnp.tanh),
    "gelu": (gelu, lambda x: x * 0.5 * (1 + jax.lax.erf(x / np.sqrt(2)))),
    "gelu_tanh": (gelu_tanh, lambda x: jax.nn.gelu(x, approximate=True)),
    "silu": (silu, jax.nn.silu),
    "cross_entropy": (
        lambda x: cross_entropy(x[:, 0], LABELS),
        lambda x: -jnp.mean(jax.nn.log_softmax(x[:, 0])[jnp.arange(6), LABELS]),
    ),
    "mean_squared_error": (lambda x: mean_squared_error(x, 2 * X), lambda x: jnp.mean((x - 2 * X) ** 2)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_values_and_derivatives(name: str) -> None:
    ours, plain = PAIRS[name]
    np.testing.assert_allclose(ours(X), plain(X), rtol=2e-5, atol=1e-6)
    weights = jnp.cos(jnp.arange(plain(X).size, dtype=jnp.float32)).reshape(plain(X).shape)
    found = jax.grad(lambda x: jnp.sum(ours(x) * weights))(X)
    wanted = jax.grad(lambda x: jnp.sum(plain(x) * weights))(X)
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


def test_batch_norm_derivatives_of_scale_and_bias() -> None:
    def ours(scale: Any, bias: Any) -> Any:
        return jnp.sum(norms.batch_norm_training(X, scale, bias, jnp.float32(1e-5))[0] ** 2)

    def plain(scale: Any, bias: Any) -> Any:
        unit = (X - X.mean((0, 2))[None, :, None]) / jnp.sqrt(X.var((0, 2))[None, :, None] + 1e-5)
        return jnp.sum((unit * scale[None, :, None] + bias[None, :, None]) ** 2)

    for found, wanted in zip(jax.grad(ours, (0, 1))(SCALE, BIAS), jax.grad(plain, (0, 1))(SCALE, BIAS), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_statistics_of_half_precision_are_wide() -> None:
    x = jnp.full((2, 3, 4096), 60.0, jnp.float16) + jnp.asarray(CHANCE.normal(size=(2, 3, 4096)), jnp.float16)
    y = norms.batch_norm_training(x, jnp.ones(3, jnp.float16), jnp.zeros(3, jnp.float16), jnp.float32(1e-5))[0]
    assert y.dtype == jnp.float16
    assert bool(jnp.all(jnp.isfinite(y)))


def test_stochastic_rounding_keeps_the_mean_and_only_takes_neighbours() -> None:
    value = np.float32(1.0 + 0.3 * 2**-10)
    found = np.asarray(round_stochastically(jnp.full(20_000, value), jax.random.key(1)))
    assert set(found.tolist()) == {1.0, 1.0 + 2**-10}
    assert abs(found.astype(np.float64).mean() - value) < 0.02 * 2**-10
    odd = round_stochastically(jnp.asarray([jnp.inf, -jnp.inf, jnp.nan, 0.0], jnp.float32), jax.random.key(1))
    np.testing.assert_array_equal(np.asarray(odd), np.array([np.inf, -np.inf, np.nan, 0.0], np.float16))


def _saved_bytes(function: Callable[[Any], Any], x: Any) -> int:
    """Bytes of arrays that the backward pass of ``function`` keeps."""
    leaves = jax.tree.leaves(jax.vjp(function, x)[1])
    words = [jax.random.key_data(leaf) if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf for leaf in leaves]
    return sum(leaf.size * leaf.dtype.itemsize for leaf in words)


@pytest.mark.parametrize("function", [relu, logistic, tanh, gelu, gelu_tanh, silu, lambda x: softmax(x, -1)])
def test_an_activation_saves_one_tensor_of_its_own_type(function: Callable[[Any], Any]) -> None:
    x = X.astype(jnp.float16)
    assert _saved_bytes(function, x) == x.size * 2


def test_norms_save_one_tensor_and_their_statistics() -> None:
    x = X.astype(jnp.float16)
    layer = _saved_bytes(lambda v: norms.layer_norm(v, jnp.float16(2), None, axis=2, epsilon=1e-5), x)
    assert layer <= x.size * 2 + 30 * 4 + 4
    batch = _saved_bytes(lambda v: norms.batch_norm_training(v, SCALE, BIAS, jnp.float32(1e-5))[0], x)
    assert batch <= x.size * 2 + 4 * 5 * 4


def test_dropout_saves_its_key_and_drops_the_same_elements_again() -> None:
    key, x = jax.random.key(3), jnp.ones((200, 50), jnp.float16)
    y, back = jax.vjp(lambda v: dropout(v, key, 0.25), x)
    assert _saved_bytes(lambda v: dropout(v, key, 0.25), x) <= 16
    assert sorted(set(np.asarray(y).ravel().tolist())) == [0.0, float(np.float16(1) / np.float16(0.75))]
    assert float((y == 0).mean()) == pytest.approx(0.25, abs=0.03)
    np.testing.assert_array_equal(back(jnp.ones_like(x))[0], y)


def test_composites_meet_the_trace_whole_and_have_a_codelet() -> None:
    text = str(jax.make_jaxpr(jax.grad(lambda x: jnp.sum(gelu(tanh(x)))))(X))
    for name in ("tanh", "tanh_backward", "gelu_erf", "gelu_erf_backward"):
        assert f"name={name}" in text
    functions = {f for c in COMPOSITES.values() if c.kind == "ELEMENTWISE" for f in c.describe([(2, 3)])["functions"]}
    assert {f for f in functions if not known(f)} == set()
