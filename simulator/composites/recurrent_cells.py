"""What one step of an LSTM, GRU or RNN does beside its products, forward and backward, each whole in the trace.

Gates are in the order of ONNX. Saved for backward is what PopLibs saves of an LSTM's step (popnn/Lstm.cpp), and
alike for GRU and RNN, whose source was not compared: every gate's value, the hyperbolic tangent of the memory, and the
state the step began with. The products and the loop are in ``recurrent``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.catalogue import Shapes, whole


def _cell(name: str, state: int) -> Callable[[Shapes], dict[str, Any]]:
    """Describe a cell's work by the shape [batch, hidden] of its input ``state``."""

    def describe(shapes: Shapes) -> dict[str, Any]:
        rows, columns = shapes[state]
        return {"name": name, "rows": rows, "columns": columns}

    return describe


def _slope_of_logistic(y: Any, g: Any) -> Any:
    return g * (y * (jnp.ones((), y.dtype) - y))


def _slope_of_tanh(y: Any, g: Any) -> Any:
    return g * (jnp.ones((), y.dtype) - y * y)


@whole("CELL", _cell("lstm", 2))
def lstm_cell(value: Any, product: Any, memory: Any) -> tuple[Any, Any, Any, Any]:
    """Units [batch, 4 hidden] as two addends and ``memory`` [batch, hidden]: (hidden, memory, gates, tanh of memory).

    ``gates`` [batch, 4 hidden] are input, output, forget and candidate after their activations.
    """
    i, o, f, c = jnp.split(value + product, 4, axis=-1)
    i, o, f, c = jax.lax.logistic(i), jax.lax.logistic(o), jax.lax.logistic(f), jnp.tanh(c)
    memory = f * memory + i * c
    reach = jnp.tanh(memory)
    return o * reach, memory, jnp.concatenate([i, o, f, c], axis=-1), reach


@whole("CELL", _cell("lstm_backward", 0))
def lstm_cell_backward(
    d_output: Any, d_hidden: Any, d_memory: Any, gates: Any, reach: Any, memory: Any
) -> tuple[Any, Any]:
    """Slopes of the units [batch, 4 hidden] and of the memory [batch, hidden] that the step began with."""
    i, o, f, c = jnp.split(gates, 4, axis=-1)
    slope = d_output + d_hidden
    inner = d_memory + _slope_of_tanh(reach, slope * o)
    units = (
        _slope_of_logistic(i, inner * c), _slope_of_logistic(o, slope * reach),
        _slope_of_logistic(f, inner * memory), _slope_of_tanh(c, inner * i),
    )  # fmt: skip
    return jnp.concatenate(units, axis=-1), inner * f


@whole("CELL", _cell("gru", 2))
def gru_cell(value: Any, product: Any, hidden: Any) -> tuple[Any, Any]:
    """Units [batch, 3 hidden] from the input and, reset after its product, from ``hidden``: (hidden, gates).

    ``gates`` [batch, 4 hidden] are update, reset, candidate and what the reset gate let through.
    """
    z, r, c = jnp.split(value, 3, axis=-1)
    from_z, from_r, late = jnp.split(product, 3, axis=-1)
    z, r = jax.lax.logistic(z + from_z), jax.lax.logistic(r + from_r)
    c = jnp.tanh(c + r * late)
    one = jnp.ones((), z.dtype)
    return (one - z) * c + z * hidden, jnp.concatenate([z, r, c, late], axis=-1)


@whole("CELL", _cell("gru_backward", 0))
def gru_cell_backward(d_output: Any, d_hidden: Any, gates: Any, hidden: Any) -> tuple[Any, Any, Any]:
    """Slopes of the units of the input, of those of the product, [batch, 3 hidden] each, and of ``hidden`` itself."""
    z, r, c, late = jnp.split(gates, 4, axis=-1)
    slope, one = d_output + d_hidden, jnp.ones((), z.dtype)
    d_candidate = _slope_of_tanh(c, slope * (one - z))
    d_update = _slope_of_logistic(z, slope * (hidden - c))
    d_reset = _slope_of_logistic(r, d_candidate * late)
    shared = (d_update, d_reset)
    return (
        jnp.concatenate((*shared, d_candidate), axis=-1),
        jnp.concatenate((*shared, d_candidate * r), axis=-1),
        slope * z,
    )


@whole("CELL", _cell("gru_gates", 2))
def gru_gates(value: Any, product: Any, hidden: Any) -> tuple[Any, Any]:
    """Update and reset gates [batch, 2 hidden] and the reset state [batch, hidden] that goes into the next product."""
    gates = jax.lax.logistic(value + product)
    return gates, gates[:, hidden.shape[1] :] * hidden


@whole("CELL", _cell("gru_candidate", 0))
def gru_candidate(value: Any, product: Any, gates: Any, hidden: Any) -> tuple[Any, Any]:
    """The next state and the candidate, [batch, hidden] each."""
    z = gates[:, : hidden.shape[1]]
    candidate = jnp.tanh(value + product)
    return (jnp.ones((), z.dtype) - z) * candidate + z * hidden, candidate


@whole("CELL", _cell("gru_candidate_backward", 0))
def gru_candidate_backward(d_output: Any, d_hidden: Any, gates: Any, candidate: Any, hidden: Any) -> Any:
    """Slopes of the candidate's units, of the update gate and of ``hidden``, [batch, hidden] each."""
    slope, z = d_output + d_hidden, gates[:, : hidden.shape[1]]
    one = jnp.ones((), z.dtype)
    return _slope_of_tanh(candidate, slope * (one - z)), slope * (hidden - candidate), slope * z


@whole("CELL", _cell("gru_gates_backward", 0))
def gru_gates_backward(d_reset_state: Any, d_update: Any, gates: Any, hidden: Any) -> tuple[Any, Any]:
    """Slopes of the units of both gates [batch, 2 hidden] and of ``hidden``."""
    z, r = jnp.split(gates, 2, axis=-1)
    units = (_slope_of_logistic(z, d_update), _slope_of_logistic(r, d_reset_state * hidden))
    return jnp.concatenate(units, axis=-1), d_reset_state * r


@whole("CELL", _cell("rnn", 0))
def rnn_cell(value: Any, product: Any) -> Any:
    """The next state [batch, hidden]."""
    return jnp.tanh(value + product)


@whole("CELL", _cell("rnn_backward", 0))
def rnn_cell_backward(d_output: Any, d_hidden: Any, hidden: Any) -> Any:
    """Slope of the units [batch, hidden], from the state that the step made."""
    return _slope_of_tanh(hidden, d_output + d_hidden)
