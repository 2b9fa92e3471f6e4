"""Linear quantisation: to and from 8 bits with a scale, per tensor, axis or block."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from onnx import helper

from simulator.composites.norms import per_channel
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.casting import cast_to
from simulator.frontends.onnx.ops.convolution import convolve
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
    code, precision = call.attr("output_dtype", 0), call.attr("precision", 0)
    declared = np.dtype(helper.tensor_dtype_to_np_dtype(code)) if code else np.dtype(np.uint8)
    dtype = declared if zero is None else np.dtype(zero.dtype)
    x, step = jnp.asarray(x), _along(call, x, scale)
    if precision:
        x, step = (v.astype(helper.tensor_dtype_to_np_dtype(precision)) for v in (x, step))
    level = x / step
    if jnp.issubdtype(dtype, jnp.floating):
        return cast_to(level, dtype, saturate=bool(call.attr("saturate", 1)))
    shift = 0 if zero is None else _along(call, x, zero).astype(jnp.int32)
    bounds = jnp.iinfo(dtype)
    return jnp.clip(jnp.round(level).astype(jnp.int32) + shift, int(bounds.min), int(bounds.max)).astype(dtype)


@op("DequantizeLinear", untrained=(1, 2))
def dequantise(call: Call, x: Any, scale: Any, zero: Any = None) -> Any:
    """Levels of 8-bit and smaller floats are their own values."""
    wide = jnp.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.int32
    level = jnp.asarray(x).astype(wide)
    if zero is not None:
        level = level - _along(call, x, zero).astype(wide)
    result = level.astype(scale.dtype) * _along(call, x, scale)
    code = call.attr("output_dtype", 0)
    return cast_to(result, helper.tensor_dtype_to_np_dtype(code)) if code and call.context.exact else result


@op("DynamicQuantizeLinear")
def dynamic_quantise(call: Call, x: Any) -> Any:
    low, high = jnp.minimum(jnp.min(x), 0), jnp.maximum(jnp.max(x), 0)
    scale = ((high - low) / 255).astype(x.dtype)
    safe = jnp.where(scale == 0, jnp.ones((), x.dtype), scale)
    zero = jnp.clip(jnp.round(-low / safe), 0, 255).astype(jnp.uint8)
    level = jnp.clip(jnp.round(x / safe) + zero.astype(x.dtype), 0, 255)
    return level.astype(jnp.uint8), scale, zero


def _wide(call: Call, x: Any, scale: Any, zero: Any, axis: int) -> Any:
    """Real numbers behind quantised ones; a scale with several entries lies along ``axis``."""
    shape = [-1 if d == axis % x.ndim else 1 for d in range(x.ndim)] if np.size(scale) > 1 else []
    level = jnp.asarray(x).astype(jnp.float32) - jnp.asarray(zero).astype(jnp.float32).reshape(shape)
    return level * jnp.asarray(scale).astype(jnp.float32).reshape(shape)


def _narrow(y: Any, scale: Any, zero: Any) -> Any:
    bounds = np.iinfo(np.dtype(zero.dtype))
    level = jnp.round(y / jnp.asarray(scale).astype(jnp.float32)) + jnp.asarray(zero).astype(jnp.float32)
    return jnp.clip(level, bounds.min, bounds.max).astype(zero.dtype)


@op("QLinearConv", untrained=(1, 2, 4, 5, 6, 7))
def quantised_conv(
    call: Call, x: Any, x_scale: Any, x_zero: Any, w: Any, w_scale: Any, w_zero: Any, y_scale: Any, y_zero: Any,
    bias: Any = None,
) -> Any:  # fmt: skip
    """The bias is in units of the two scales multiplied."""
    product = convolve(call, _wide(call, x, x_scale, x_zero, 1), _wide(call, w, w_scale, w_zero, 0))
    if bias is not None:
        unit = jnp.asarray(x_scale).astype(jnp.float32) * jnp.asarray(w_scale).astype(jnp.float32)
        product = product + per_channel(jnp.asarray(bias).astype(jnp.float32) * unit, product.ndim)
    return _narrow(product, y_scale, y_zero)


@op("QLinearMatMul", untrained=(1, 2, 4, 5, 6, 7))
def quantised_matmul(
    call: Call, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, y_scale: Any, y_zero: Any
) -> Any:
    return _narrow(
        jnp.matmul(_wide(call, a, a_scale, a_zero, -2), _wide(call, b, b_scale, b_zero, -1)), y_scale, y_zero
    )
