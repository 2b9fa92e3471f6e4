"""Linear quantisation: to and from 8 bits with a scale, per tensor, axis or block."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op


def _along(call: Call, x: Any, value: Any) -> Any:
    """A scale or zero point shaped to broadcast against ``x``."""
    value = jnp.asarray(value)
    if value.ndim == 0 or value.size == 1:
        return value.reshape(())
    axis = call.attr("axis", 1) % x.ndim
    block = call.attr("block_size", 0)
    if block:
        return jnp.repeat(value, block, axis)[tuple(slice(0, n) for n in x.shape)]
    return value.reshape([-1 if d == axis else 1 for d in range(x.ndim)])


@op("QuantizeLinear", untrained=(1, 2))
def quantise(call: Call, x: Any, scale: Any, zero: Any = None) -> Any:
    dtype = np.dtype(np.uint8) if zero is None else np.dtype(zero.dtype)
    if dtype.kind not in "iu":
        raise TypeError(f"quantising to {dtype} is not supported")
    bounds = np.iinfo(dtype)
    shift = 0 if zero is None else _along(call, x, zero).astype(jnp.int32)
    level = jnp.round(x / _along(call, x, scale)).astype(jnp.int32) + shift
    return jnp.clip(level, bounds.min, bounds.max).astype(dtype)


@op("DequantizeLinear", untrained=(1, 2))
def dequantise(call: Call, x: Any, scale: Any, zero: Any = None) -> Any:
    level = jnp.asarray(x).astype(jnp.int32)
    if zero is not None:
        level = level - _along(call, x, zero).astype(jnp.int32)
    return level.astype(scale.dtype) * _along(call, x, scale)


@op("DynamicQuantizeLinear")
def dynamic_quantise(call: Call, x: Any) -> Any:
    low, high = jnp.minimum(jnp.min(x), 0), jnp.maximum(jnp.max(x), 0)
    scale = ((high - low) / 255).astype(x.dtype)
    safe = jnp.where(scale == 0, jnp.ones((), x.dtype), scale)
    zero = jnp.clip(jnp.round(-low / safe), 0, 255).astype(jnp.uint8)
    level = jnp.clip(jnp.round(x / safe) + zero.astype(x.dtype), 0, 255)
    return level.astype(jnp.uint8), scale, zero
