"""LSTM, GRU and RNN over whole sequences: composites where their gates are the usual ones, else loops of primitives.

Gates are in the order of ONNX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites import recurrent
from simulator.composites.recurrent import times
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "Sigmoid": lambda x, a, b: jax.lax.logistic(x),
    "Tanh": lambda x, a, b: jnp.tanh(x),
    "Relu": lambda x, a, b: jax.nn.relu(x),
    "Affine": lambda x, a, b: (1.0 if a is None else a) * x + (0.0 if b is None else b),
    "LeakyRelu": lambda x, a, b: jnp.where(x >= 0, x, (0.01 if a is None else a) * x),
    "ThresholdedRelu": lambda x, a, b: jnp.where(x > (1.0 if a is None else a), x, 0),
    "HardSigmoid": lambda x, a, b: jnp.clip((0.2 if a is None else a) * x + (0.5 if b is None else b), 0, 1),
    "Elu": lambda x, a, b: jnp.where(x > 0, x, (1.0 if a is None else a) * jnp.expm1(x)),
    "Softsign": lambda x, a, b: x / (1 + jnp.abs(x)),
    "Softplus": lambda x, a, b: jax.nn.softplus(x),
}
Gate = Callable[[Any], Any]


class _Sequence:
    """What LSTM, GRU and RNN share: layout, directions, activations, lengths and the loop."""

    def __init__(self, call: Call, x: Any, default: list[str]) -> None:
        self.call = call
        self.batch_first = bool(call.attr("layout", 0))
        self.x = jnp.swapaxes(x, 0, 1) if self.batch_first else jnp.asarray(x)  # [time, batch, input]
        self.direction = call.text("direction", "forward")
        self.directions = 2 if self.direction == "bidirectional" else 1
        self._default = default

    def backwards(self, direction: int) -> bool:
        """Whether a direction runs from the end of the sequence to its start."""
        return self.direction == "reverse" or direction == 1

    def usual(self, lengths: Any) -> bool:
        """Whether a composite does what the node asks: default activations, no clipping, rows of one length."""
        names = self._names()
        return lengths is None and self.call.attr("clip") is None and names == self._default * self.directions

    def _names(self) -> list[str]:
        names = [n.decode() if isinstance(n, bytes) else n for n in self.call.attr("activations") or []]
        return names or self._default * self.directions

    def gates(self, direction: int) -> list[Gate]:
        names = self._names()
        alphas, betas = list(self.call.attr("activation_alpha") or []), list(self.call.attr("activation_beta") or [])
        count = len(self._default)
        chosen = range(direction * count, (direction + 1) * count)
        return [self._gate(names[i], _get(alphas, i), _get(betas, i)) for i in chosen]

    def _gate(self, name: str, alpha: float | None, beta: float | None) -> Gate:
        if name not in ACTIVATIONS:
            raise self.call.invalid(f"uses activation {name[:50]}, which is not supported")
        function, clip = ACTIVATIONS[name], self.call.attr("clip")
        if clip is None:
            return lambda x: function(x, alpha, beta)
        return lambda x: function(jnp.clip(x, -clip, clip), alpha, beta)

    def start(self, state: Any, direction: int, hidden: int) -> Any:
        """Initial state [batch, hidden] of a direction."""
        if state is None:
            return jnp.zeros((self.x.shape[1], hidden), self.x.dtype)
        return jnp.asarray(state)[:, direction] if self.batch_first else jnp.asarray(state)[direction]

    def loop(self, direction: int, cell: Any, states: tuple[Any, ...], projected: Any, lengths: Any) -> Any:
        """Run ``cell(states, x_t) -> states`` over time; states[0] is the output. Past its length a row rests."""

        def one(carry: Any, step: Any) -> Any:
            value, time = step
            new = cell(carry, value)
            if lengths is None:
                return new, new[0]
            live = (time < lengths)[:, None]
            return tuple(jnp.where(live, n, o) for n, o in zip(new, carry, strict=True)), jnp.where(live, new[0], 0)

        times = jnp.arange(self.x.shape[0])
        return jax.lax.scan(one, states, (projected, times), reverse=self.backwards(direction))

    def join(self, outputs: list[Any], finals: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Y [time, directions, batch, hidden] and the last states [directions, batch, hidden]."""
        y = outputs[0][:, None] if self.directions == 1 else jnp.stack(outputs, 1)
        last = [jnp.stack(state) for state in zip(*finals, strict=True)]
        if self.batch_first:
            y, last = jnp.transpose(y, (2, 0, 1, 3)), [jnp.swapaxes(s, 0, 1) for s in last]
        return (y, *last)


def _get(values: list[float], index: int) -> float | None:
    return values[index] if index < len(values) else None


def _biases(bias: Any, direction: int, width: int, x: Any) -> tuple[Any, Any]:
    if bias is None:
        return jnp.zeros(width, x.dtype), jnp.zeros(width, x.dtype)
    return bias[direction][:width], bias[direction][width:]


@op("LSTM")
def lstm(
    call: Call,
    x: Any,
    w: Any,
    r: Any,
    b: Any = None,
    lengths: Any = None,
    h0: Any = None,
    c0: Any = None,
    p: Any = None,
    *,
    through: Gate | None = None,
) -> Any:
    """``through``: what a product's other operand passes before it meets the weights (rounding to fewer bits)."""
    sequence = _Sequence(call, x, ["Sigmoid", "Tanh", "Tanh"])
    read = through or (lambda value: value)
    coupled = bool(call.attr("input_forget", 0))
    usual = sequence.usual(lengths) and through is None and p is None and not coupled
    outputs, finals = [], []
    hidden = r.shape[2]
    for d in range(sequence.directions):
        bias_w, bias_r = _biases(b, d, 4 * hidden, sequence.x)
        projected = times(read(sequence.x), w[d]) + (bias_w + bias_r)
        states = (sequence.start(h0, d, hidden), sequence.start(c0, d, hidden))
        if usual:
            y, *final = recurrent.lstm_sequence(sequence.backwards(d), projected, r[d], *states)
        else:
            peep = None if p is None else jnp.split(jnp.asarray(p[d]), 3)
            f, g, h = sequence.gates(d)
            cell = _lstm_cell(_product(read, r[d]), peep, (f, g, h), coupled)
            final, y = sequence.loop(d, cell, states, projected, lengths)
        outputs.append(y)
        finals.append(tuple(final))
    return sequence.join(outputs, finals)


def _product(read: Gate, weights: Any) -> Gate:
    return lambda value: times(read(value), weights)


def _lstm_cell(recurrent: Gate, peep: Any, gates: tuple[Gate, Gate, Gate], coupled: bool) -> Any:
    f, g, h = gates

    def cell(states: Any, value: Any) -> Any:
        hidden, memory = states
        i, o, forget, c = jnp.split(value + recurrent(hidden), 4, axis=-1)
        if peep is not None:
            i, forget = i + peep[0] * memory, forget + peep[2] * memory
        i = f(i)
        forget = 1 - i if coupled else f(forget)
        memory = forget * memory + i * g(c)
        o = f(o if peep is None else o + peep[1] * memory)
        return o * h(memory), memory

    return cell


@op("GRU")
def gru(call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h0: Any = None) -> Any:
    sequence = _Sequence(call, x, ["Sigmoid", "Tanh"])
    linear_first, usual = bool(call.attr("linear_before_reset", 0)), sequence.usual(lengths)
    run = recurrent.gru_sequence if linear_first else recurrent.gru_early_sequence
    outputs, finals = [], []
    hidden = r.shape[2]
    for d in range(sequence.directions):
        bias_w, bias_r = _biases(b, d, 3 * hidden, sequence.x)
        projected, start = times(sequence.x, w[d]) + bias_w, sequence.start(h0, d, hidden)
        if usual:
            y, *final = run(sequence.backwards(d), projected, r[d], bias_r, start)
        else:
            f, g = sequence.gates(d)
            cell = _gru_cell(r[d].T, bias_r, f, g, linear_first)
            final, y = sequence.loop(d, cell, (start,), projected, lengths)
        outputs.append(y)
        finals.append(tuple(final))
    return sequence.join(outputs, finals)


def _gru_cell(recurrent: Any, bias: Any, f: Gate, g: Gate, linear_first: bool) -> Any:
    hidden = recurrent.shape[0]

    def cell(states: Any, value: Any) -> Any:
        (state,) = states
        x_zr, x_h = value[:, : 2 * hidden], value[:, 2 * hidden :]
        z, reset = jnp.split(f(x_zr + jnp.matmul(state, recurrent[:, : 2 * hidden]) + bias[: 2 * hidden]), 2, axis=-1)
        late_weights, late_bias = recurrent[:, 2 * hidden :], bias[2 * hidden :]
        if linear_first:
            candidate = g(x_h + reset * (jnp.matmul(state, late_weights) + late_bias))
        else:
            candidate = g(x_h + jnp.matmul(reset * state, late_weights) + late_bias)
        return ((1 - z) * candidate + z * state,)

    return cell


@op("RNN")
def rnn(call: Call, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h0: Any = None) -> Any:
    sequence = _Sequence(call, x, ["Tanh"])
    outputs, finals = [], []
    hidden = r.shape[2]
    for d in range(sequence.directions):
        bias_w, bias_r = _biases(b, d, hidden, sequence.x)
        projected, start = times(sequence.x, w[d]) + (bias_w + bias_r), sequence.start(h0, d, hidden)
        if sequence.usual(lengths):
            y, *final = recurrent.rnn_sequence(sequence.backwards(d), projected, r[d], start)
        else:
            final, y = sequence.loop(d, _rnn_cell(r[d], *sequence.gates(d)), (start,), projected, lengths)
        outputs.append(y)
        finals.append(tuple(final))
    return sequence.join(outputs, finals)


def _rnn_cell(weights: Any, f: Gate) -> Any:
    def cell(states: Any, value: Any) -> Any:
        return (f(value + times(states[0], weights)),)

    return cell
