"""Root-mean-square normalisation of rows, whole in the trace: statistics in float32, no mean taken off.

Saved for backward: the normalised input and the inverse size of each row.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.catalogue import rows_and_columns, whole


@whole("NORM", rows_and_columns("rms_norm"))
def rms_norm_forward(x: Any, epsilon: Any) -> tuple[Any, Any]:
    """Rows of ``x`` [rows, columns] to mean square 1; with the inverse size of each row."""
    wide = x.astype(jnp.float32)
    inverse = jax.lax.rsqrt(jnp.mean(jnp.square(wide), axis=-1, keepdims=True) + epsilon)
    return (wide * inverse).astype(x.dtype), inverse


@whole("NORM", rows_and_columns("rms_norm_backward"))
def rms_norm_backward(y: Any, inverse: Any, g: Any) -> Any:
    wide, slope = y.astype(jnp.float32), g.astype(jnp.float32)
    along = jnp.mean(slope * wide, axis=-1, keepdims=True)
    return (inverse * (slope - wide * along)).astype(y.dtype)


@jax.custom_vjp
def _rms_norm(x: Any, epsilon: Any) -> Any:
    return rms_norm_forward(x, epsilon)[0]


def _saving(x: Any, epsilon: Any) -> tuple[Any, Any]:
    y, inverse = rms_norm_forward(x, epsilon)
    return y, (y, inverse)


def _slopes(saved: tuple[Any, Any], g: Any) -> tuple[Any, Any]:
    return rms_norm_backward(*saved, g), jnp.zeros((), jnp.float32)


_rms_norm.defvjp(_saving, _slopes)


def rms_norm(x: Any, epsilon: float) -> Any:
    """``x`` [rows, columns] with each row's mean square 1; same shape and dtype."""
    return _rms_norm(x, jnp.float32(epsilon))
