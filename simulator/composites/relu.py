"""Rectifier whose backward pass reads its own output, so that no mask is saved."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


@jax.custom_vjp
def relu(x: Any) -> Any:
    """max(x, 0); the gradient at 0 is 0, as in PyTorch."""
    return jnp.maximum(x, jnp.zeros((), x.dtype))


def _saving(x: Any) -> tuple[Any, Any]:
    y = relu(x)
    return y, y


relu.defvjp(_saving, lambda y, g: (jnp.where(y > 0, g, jnp.zeros((), g.dtype)),))
