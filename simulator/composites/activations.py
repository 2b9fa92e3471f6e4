"""Activation functions that the IPU has a codelet for, forward and backward, each whole in the trace.

Saved for backward: the output where the slope can be told from it (relu, logistic, tanh), else the input; never both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.catalogue import elementwise, whole

Unary = Callable[[Any], Any]


def _activation(name: str, forward: Unary, slope: Callable[[Any, Any], Any], *, keeps_output: bool) -> Unary:
    """A unary function; ``slope(kept, g)`` is its backward, from the output or from the input."""
    ahead = whole("ELEMENTWISE", elementwise(name), name)(forward)
    behind = whole("ELEMENTWISE", elementwise(f"{name}_backward", 2), f"{name}_backward")(slope)

    def saving(x: Any) -> tuple[Any, Any]:
        y = ahead(x)
        return y, (y if keeps_output else x)

    function = jax.custom_vjp(ahead)
    function.defvjp(saving, lambda kept, g: (behind(kept, g),))
    return function


def _slope_of(forward: Unary) -> Callable[[Any, Any], Any]:
    """Backward of a function of one variable, from its input."""
    return lambda x, g: jax.vjp(forward, x)[1](g)[0]


def _gelu(x: Any) -> Any:
    return jax.nn.gelu(x, approximate=False)


def _gelu_tanh(x: Any) -> Any:
    return jax.nn.gelu(x, approximate=True)


def _silu(x: Any) -> Any:
    return x * jax.lax.logistic(x)


relu = _activation(
    "relu",
    lambda x: jnp.maximum(x, jnp.zeros((), x.dtype)),
    lambda y, g: jnp.where(y > 0, g, jnp.zeros((), g.dtype)),  # the gradient at 0 is 0, as in PyTorch
    keeps_output=True,
)
logistic = _activation(
    "logistic", jax.lax.logistic, lambda y, g: g * (y * (jnp.ones((), y.dtype) - y)), keeps_output=True
)
tanh = _activation("tanh", jnp.tanh, lambda y, g: g * (jnp.ones((), y.dtype) - y * y), keeps_output=True)
gelu = _activation("gelu_erf", _gelu, _slope_of(_gelu), keeps_output=False)
gelu_tanh = _activation("gelu", _gelu_tanh, _slope_of(_gelu_tanh), keeps_output=False)
silu = _activation("silu", _silu, _slope_of(_silu), keeps_output=False)
