"""Softmax and log-softmax over one axis, whole in the trace. Saved for backward: the output alone."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.catalogue import rows_and_columns, whole


def softmax(x: Any, axis: int) -> Any:
    """Softmax of ``x`` along ``axis``; same shape and dtype."""
    return jnp.moveaxis(_softmax(jnp.moveaxis(x, axis, -1)), -1, axis)


def log_softmax(x: Any, axis: int) -> Any:
    """Logarithm of the softmax of ``x`` along ``axis``; same shape and dtype."""
    return jnp.moveaxis(_log_softmax(jnp.moveaxis(x, axis, -1)), -1, axis)


def shifted_down(x: Any) -> Any:
    """``x`` less the largest of each row."""
    return x - jnp.max(x, axis=-1, keepdims=True)


@whole("SOFTMAX", rows_and_columns("softmax"))
def softmax_forward(x: Any) -> Any:
    e = jnp.exp(shifted_down(x))
    return e / jnp.sum(e, axis=-1, keepdims=True)


@whole("SOFTMAX", rows_and_columns("softmax_backward"))
def softmax_backward(y: Any, g: Any) -> Any:
    return y * (g - jnp.sum(y * g, axis=-1, keepdims=True))


@jax.custom_vjp
def _softmax(x: Any) -> Any:
    return softmax_forward(x)


def _softmax_saving(x: Any) -> tuple[Any, Any]:
    y = softmax_forward(x)
    return y, y


_softmax.defvjp(_softmax_saving, lambda y, g: (softmax_backward(y, g),))


@whole("SOFTMAX", rows_and_columns("log_softmax"))
def log_softmax_forward(x: Any) -> Any:
    shifted = shifted_down(x)
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=-1, keepdims=True))


@whole("SOFTMAX", rows_and_columns("log_softmax_backward"))
def log_softmax_backward(y: Any, g: Any) -> Any:
    return g - jnp.exp(y) * jnp.sum(g, axis=-1, keepdims=True)


@jax.custom_vjp
def _log_softmax(x: Any) -> Any:
    return log_softmax_forward(x)


def _log_softmax_saving(x: Any) -> tuple[Any, Any]:
    y = log_softmax_forward(x)
    return y, y


_log_softmax.defvjp(_log_softmax_saving, lambda y, g: (log_softmax_backward(y, g),))
