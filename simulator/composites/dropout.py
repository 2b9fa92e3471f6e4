"""Dropout, whole in the trace. Saved for backward: the key alone, from which the same elements are dropped again."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.composites.catalogue import elementwise, whole


def _dropped(x: Any, key: Any, rate: Any) -> Any:
    keep = jax.random.bernoulli(key, 1.0 - rate, x.shape)
    return jnp.where(keep, x / (1.0 - rate).astype(x.dtype), jnp.zeros((), x.dtype))


@whole("ELEMENTWISE", elementwise("dropout"))
def dropout_forward(x: Any, key: Any, rate: Any) -> Any:
    return _dropped(x, key, rate)


@whole("ELEMENTWISE", elementwise("dropout"))
def dropout_backward(g: Any, key: Any, rate: Any) -> Any:
    return _dropped(g, key, rate)


@jax.custom_vjp
def _dropout(x: Any, key: Any, rate: Any) -> Any:
    return dropout_forward(x, key, rate)


def _slopes(saved: tuple[Any, Any], g: Any) -> tuple[Any, Any, Any]:
    key, rate = saved
    return dropout_backward(g, key, rate), np.zeros(key.shape, jax.dtypes.float0), jnp.zeros((), jnp.float32)


_dropout.defvjp(lambda x, key, rate: (dropout_forward(x, key, rate), (key, rate)), _slopes)


def dropout(x: Any, key: Any, rate: float) -> Any:
    """``x`` with a share ``rate`` of its elements set to 0 by chance, the rest scaled up so that the mean is kept."""
    return _dropout(x, key, jnp.float32(rate))
