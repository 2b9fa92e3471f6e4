"""LSTM, GRU and RNN over whole sequences with the gates that PopLibs has, each with a derivative of its own.

The input's part of every step is projected beforehand, as one product (PopLibs' preCalcWeights). A step multiplies the
state and runs its cell. Backwards the same loop runs the other way, on weights transposed once; gradients of recurrent
weights are one product over all steps after it. Other activations, clipping, peepholes and sequences of several
lengths are ordinary loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites import recurrent_cells as cells

Slopes = tuple[Any, ...]


def times(value: Any, weights: Any) -> Any:
    """``value`` [..., k] by ``weights`` [n, k], as ONNX stores them: [..., n]."""
    return jax.lax.dot_general(value, weights, (((value.ndim - 1,), (1,)), ((), ())))


def _over_time(slopes: Any, states: Any) -> Any:
    """``slopes`` [time, batch, n] and ``states`` [time, batch, k]: [n, k], as one product."""
    return jax.lax.dot_general(slopes, states, (((0, 1), (0, 1)), ((), ())))


def _weight_slope(slopes: Any, states: Any, start: Any, backwards: bool) -> Any:
    """Gradient of recurrent weights. ``states`` are those the steps ended with: each step read its neighbour's."""
    first, later = (slopes[-1:], slopes[:-1]) if backwards else (slopes[:1], slopes[1:])
    read = states[1:] if backwards else states[:-1]
    slope = _over_time(first, start[None])
    return slope if states.shape[0] == 1 else _over_time(later, read) + slope


def _sequence(forward: Callable[..., Any], saving: Callable[..., Any], slopes: Callable[..., Any]) -> Any:
    """A sequence with its own derivative; the last argument (whether it runs backwards in time) is a setting."""
    function = jax.custom_vjp(forward, nondiff_argnums=(0,))
    function.defvjp(saving, slopes)
    return function


def _lstm_run(backwards: bool, projected: Any, weights: Any, hidden: Any, memory: Any, keeping: bool) -> Any:
    def step(state: Any, value: Any) -> Any:
        before = state[1]
        now, held, gates, reach = cells.lstm_cell(value, times(state[0], weights), before)
        return (now, held), (now, gates, reach, before) if keeping else (now,)

    return jax.lax.scan(step, (hidden, memory), projected, reverse=backwards)


def _lstm(backwards: bool, projected: Any, weights: Any, hidden: Any, memory: Any) -> Any:
    """``projected`` [time, batch, 4 hidden], ``weights`` [4 hidden, hidden]: (every hidden state, the last, memory)."""
    last, (outputs,) = _lstm_run(backwards, projected, weights, hidden, memory, False)
    return outputs, *last


def _lstm_saving(backwards: bool, projected: Any, weights: Any, hidden: Any, memory: Any) -> Any:
    last, (outputs, *kept) = _lstm_run(backwards, projected, weights, hidden, memory, True)
    return (outputs, *last), (outputs, *kept, weights, hidden)


def _lstm_slopes(backwards: bool, saved: Any, given: Any) -> Slopes:
    outputs, gates, reach, before, weights, start = saved
    turned, (d_outputs, *d_last) = weights.T, given

    def step(slope: Any, kept: Any) -> Any:
        d_output, gates, reach, before = kept
        units, d_memory = cells.lstm_cell_backward(d_output, *slope, gates, reach, before)
        return (times(units, turned), d_memory), units

    (d_hidden, d_memory), units = jax.lax.scan(
        step, tuple(d_last), (d_outputs, gates, reach, before), reverse=not backwards
    )
    return units, _weight_slope(units, outputs, start, backwards), d_hidden, d_memory


lstm_sequence = _sequence(_lstm, _lstm_saving, _lstm_slopes)


def _gru_run(backwards: bool, projected: Any, weights: Any, bias: Any, hidden: Any, keeping: bool) -> Any:
    def step(state: Any, value: Any) -> Any:
        now, gates = cells.gru_cell(value, times(state, weights) + bias, state)
        return now, (now, gates, state) if keeping else (now,)

    return jax.lax.scan(step, hidden, projected, reverse=backwards)


def _gru(backwards: bool, projected: Any, weights: Any, bias: Any, hidden: Any) -> Any:
    """The reset gate after its product. ``projected`` [time, batch, 3 hidden], ``bias`` [3 hidden] of the product."""
    last, (outputs,) = _gru_run(backwards, projected, weights, bias, hidden, False)
    return outputs, last


def _gru_saving(backwards: bool, projected: Any, weights: Any, bias: Any, hidden: Any) -> Any:
    last, (outputs, *kept) = _gru_run(backwards, projected, weights, bias, hidden, True)
    return (outputs, last), (outputs, *kept, weights, hidden)


def _gru_slopes(backwards: bool, saved: Any, given: Any) -> Slopes:
    outputs, gates, before, weights, start = saved
    turned = weights.T

    def step(slope: Any, kept: Any) -> Any:
        d_output, gates, before = kept
        d_value, d_product, direct = cells.gru_cell_backward(d_output, slope, gates, before)
        return direct + times(d_product, turned), (d_value, d_product)

    d_hidden, (d_values, d_products) = jax.lax.scan(step, given[1], (given[0], gates, before), reverse=not backwards)
    d_weights = _weight_slope(d_products, outputs, start, backwards)
    return d_values, d_weights, jnp.sum(d_products, axis=(0, 1)), d_hidden


gru_sequence = _sequence(_gru, _gru_saving, _gru_slopes)


def _gru_early_run(
    backwards: bool, projected: Any, weights: Any, biases: tuple[Any, Any], hidden: Any, keeping: bool
) -> Any:
    wide = 2 * hidden.shape[1]

    def step(state: Any, value: Any) -> Any:
        gates, fresh = cells.gru_gates(value[:, :wide], times(state, weights[:wide]) + biases[0], state)
        product = times(fresh, weights[wide:]) + biases[1]
        now, candidate = cells.gru_candidate(value[:, wide:], product, gates, state)
        return now, (now, gates, fresh, candidate, state) if keeping else (now,)

    return jax.lax.scan(step, hidden, projected, reverse=backwards)


def _halves(bias: Any) -> tuple[Any, Any]:
    wide = 2 * (bias.shape[0] // 3)
    return bias[:wide], bias[wide:]


def _gru_early(backwards: bool, projected: Any, weights: Any, bias: Any, hidden: Any) -> Any:
    """As ``_gru`` with the reset gate before its product: two products a step."""
    last, (outputs,) = _gru_early_run(backwards, projected, weights, _halves(bias), hidden, False)
    return outputs, last


def _gru_early_saving(backwards: bool, projected: Any, weights: Any, bias: Any, hidden: Any) -> Any:
    last, (outputs, *kept) = _gru_early_run(backwards, projected, weights, _halves(bias), hidden, True)
    return (outputs, last), (outputs, *kept, weights, hidden)


def _gru_early_slopes(backwards: bool, saved: Any, given: Any) -> Slopes:
    outputs, gates, fresh, candidates, before, weights, start = saved
    wide = 2 * start.shape[1]
    turned, turned_late = weights[:wide].T, weights[wide:].T

    def step(slope: Any, kept: Any) -> Any:
        d_output, gates, candidate, before = kept
        late, d_update, direct = cells.gru_candidate_backward(d_output, slope, gates, candidate, before)
        early, through = cells.gru_gates_backward(times(late, turned_late), d_update, gates, before)
        return direct + through + times(early, turned), (early, late)

    d_hidden, (early, late) = jax.lax.scan(step, given[1], (given[0], gates, candidates, before), reverse=not backwards)
    units = jnp.concatenate([early, late], axis=-1)
    d_weights = jnp.concatenate([_weight_slope(early, outputs, start, backwards), _over_time(late, fresh)])
    return units, d_weights, jnp.sum(units, axis=(0, 1)), d_hidden


gru_early_sequence = _sequence(_gru_early, _gru_early_saving, _gru_early_slopes)


def _rnn_run(backwards: bool, projected: Any, weights: Any, hidden: Any) -> Any:
    def step(state: Any, value: Any) -> Any:
        now = cells.rnn_cell(value, times(state, weights))
        return now, now

    return jax.lax.scan(step, hidden, projected, reverse=backwards)


def _rnn(backwards: bool, projected: Any, weights: Any, hidden: Any) -> Any:
    """``projected`` [time, batch, hidden], ``weights`` [hidden, hidden]: (every hidden state, the last)."""
    last, outputs = _rnn_run(backwards, projected, weights, hidden)
    return outputs, last


def _rnn_saving(backwards: bool, projected: Any, weights: Any, hidden: Any) -> Any:
    last, outputs = _rnn_run(backwards, projected, weights, hidden)
    return (outputs, last), (outputs, weights, hidden)


def _rnn_slopes(backwards: bool, saved: Any, given: Any) -> Slopes:
    outputs, weights, start = saved
    turned = weights.T

    def step(slope: Any, kept: Any) -> Any:
        units = cells.rnn_cell_backward(kept[0], slope, kept[1])
        return times(units, turned), units

    d_hidden, units = jax.lax.scan(step, given[1], (given[0], outputs), reverse=not backwards)
    return units, _weight_slope(units, outputs, start, backwards), d_hidden


rnn_sequence = _sequence(_rnn, _rnn_saving, _rnn_slopes)
