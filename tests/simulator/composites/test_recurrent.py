"""Recurrent composites: the derivative of their own equals that of the plain loop, and the trace keeps them whole."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simulator.composites import recurrent

TIME, BATCH, HIDDEN = 5, 3, 4
Array = Any


def _plain_lstm(backwards: bool, x: Array, w: Array, h: Array, c: Array) -> tuple[Array, ...]:
    def step(state: Any, value: Array) -> Any:
        i, o, f, g = jnp.split(value + state[0] @ w.T, 4, axis=-1)
        memory = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(memory)
        return (hidden, memory), hidden

    last, outputs = jax.lax.scan(step, (h, c), x, reverse=backwards)
    return outputs, *last


def _plain_gru(linear_first: bool) -> Any:
    def run(backwards: bool, x: Array, w: Array, bias: Array, h: Array) -> tuple[Array, Array]:
        wide = 2 * HIDDEN

        def step(state: Array, value: Array) -> Any:
            gates = jax.nn.sigmoid(value[:, :wide] + state @ w[:wide].T + bias[:wide])
            z, r = jnp.split(gates, 2, axis=-1)
            if linear_first:
                late = r * (state @ w[wide:].T + bias[wide:])
            else:
                late = (r * state) @ w[wide:].T + bias[wide:]
            new = (1 - z) * jnp.tanh(value[:, wide:] + late) + z * state
            return new, new

        last, outputs = jax.lax.scan(step, h, x, reverse=backwards)
        return outputs, last

    return run


def _plain_rnn(backwards: bool, x: Array, w: Array, h: Array) -> tuple[Array, Array]:
    def step(state: Array, value: Array) -> Any:
        new = jnp.tanh(value + state @ w.T)
        return new, new

    last, outputs = jax.lax.scan(step, h, x, reverse=backwards)
    return outputs, last


def _arguments(gates: int, biased: bool, states: int, time: int) -> list[Array]:
    shapes = [(time, BATCH, gates * HIDDEN), (gates * HIDDEN, HIDDEN)]
    shapes += [(gates * HIDDEN,)] * biased + [(BATCH, HIDDEN)] * states
    chance = np.random.default_rng(3)
    return [jnp.asarray(chance.standard_normal(shape), jnp.float32) for shape in shapes]


SEQUENCES = {
    "lstm": (recurrent.lstm_sequence, _plain_lstm, (4, False, 2)),
    "gru": (recurrent.gru_sequence, _plain_gru(True), (3, True, 1)),
    "gru_early": (recurrent.gru_early_sequence, _plain_gru(False), (3, True, 1)),
    "rnn": (recurrent.rnn_sequence, _plain_rnn, (1, False, 1)),
}


@pytest.mark.parametrize(
    ("name", "backwards", "time"),
    [(name, backwards, TIME) for name in SEQUENCES for backwards in (False, True)] + [("lstm", False, 1)],
)
def test_results_and_slopes_are_those_of_the_plain_loop(name: str, backwards: bool, time: int) -> None:
    ours, plain, sizes = SEQUENCES[name]
    arguments = _arguments(*sizes, time)

    def total(run: Any) -> Any:
        def weighed(*given: Array) -> Array:
            results = run(backwards, *given)
            return sum(jnp.sum(jnp.sin(r + n)) for n, r in enumerate(results)), results

        return jax.jit(jax.value_and_grad(weighed, argnums=tuple(range(len(arguments))), has_aux=True))

    (_, mine), slopes = total(ours)(*arguments)
    (_, theirs), expected = total(plain)(*arguments)
    for one, other in zip((*mine, *slopes), (*theirs, *expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)
