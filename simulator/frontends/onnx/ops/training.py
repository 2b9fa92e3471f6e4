"""Optimisers that a file itself contains: Adam, Adagrad, momentum of ai.onnx.preview.training, of many tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op

DOMAIN = "ai.onnx.preview.training"


def _each(call: Call, states: int, values: tuple[Any, ...], rule: Callable[..., tuple[Any, ...]]) -> tuple[Any, ...]:
    """Weights, gradients and states come in blocks; so do the new weights and states."""
    count = len(values) // (states + 2)
    done = [rule(*values[i::count]) for i in range(count)]
    return tuple(value for column in zip(*done, strict=True) for value in column)


@op("Adam", domain=DOMAIN)
def adam(call: Call, rate: Any, step: Any, *values: Any) -> Any:
    a, b = call.attr("alpha", 0.9), call.attr("beta", 0.999)
    decay, after = call.attr("norm_coefficient", 0.0), call.attr("norm_coefficient_post", 0.0)
    bias = jnp.where(step > 0, jnp.sqrt(1 - b**step) / jnp.where(step > 0, 1 - a**step, 1), 1.0).astype(rate.dtype)

    def rule(x: Any, g: Any, first: Any, second: Any) -> tuple[Any, ...]:
        g = decay * x + g
        first, second = a * first + (1 - a) * g, b * second + (1 - b) * g * g
        moved = x - rate * bias * first / (jnp.sqrt(second) + call.attr("epsilon", 1e-6))
        return (1 - after) * moved, first, second

    return _each(call, 2, values, rule)


@op("Adagrad", domain=DOMAIN)
def adagrad(call: Call, rate: Any, step: Any, *values: Any) -> Any:
    slower = rate / (1 + step * call.attr("decay_factor", 0.0))
    decay, epsilon = call.attr("norm_coefficient", 0.0), call.attr("epsilon", 1e-6)

    def rule(x: Any, g: Any, squares: Any) -> tuple[Any, ...]:
        g = decay * x + g
        squares = squares + g * g
        return (x - slower * g / (jnp.sqrt(squares) + epsilon)).astype(x.dtype), squares

    return _each(call, 1, values, rule)


@op("Momentum", domain=DOMAIN)
def momentum(call: Call, rate: Any, step: Any, *values: Any) -> Any:
    keep, decay = call.required("alpha"), call.required("norm_coefficient")
    share = jnp.where(step > 0, call.required("beta"), 1.0).astype(rate.dtype)  # the first gradient counts whole
    nesterov = call.text("mode", "standard") == "nesterov"

    def rule(x: Any, g: Any, velocity: Any) -> tuple[Any, ...]:
        g = decay * x + g
        velocity = keep * velocity + share * g
        return x - rate * (g + keep * velocity if nesterov else velocity), velocity

    return _each(call, 1, values, rule)
