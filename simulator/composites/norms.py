"""Layer, batch, group and instance normalisation, whole in the trace.

Statistics are in float32 whatever the input. Saved for backward: the normalised input and the inverse deviation.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.catalogue import Shapes, rows_and_columns, whole


@whole("NORM", rows_and_columns("normalise"))
def normalise_forward(x: Any, epsilon: Any) -> tuple[Any, Any]:
    """Rows of ``x`` [rows, columns] to mean 0 and variance 1; with the inverse deviation of each row."""
    wide = x.astype(jnp.float32)
    mean = jnp.mean(wide, axis=-1, keepdims=True)
    inverse = jax.lax.rsqrt(jnp.mean(jnp.square(wide - mean), axis=-1, keepdims=True) + epsilon)
    return ((wide - mean) * inverse).astype(x.dtype), inverse


@whole("NORM", rows_and_columns("normalise_backward"))
def normalise_backward(y: Any, inverse: Any, g: Any) -> Any:
    wide, slope = y.astype(jnp.float32), g.astype(jnp.float32)
    mean_slope = jnp.mean(slope, axis=-1, keepdims=True)
    along = jnp.mean(slope * wide, axis=-1, keepdims=True)
    return (inverse * (slope - mean_slope - wide * along)).astype(y.dtype)


@jax.custom_vjp
def _normalise(x: Any, epsilon: Any) -> Any:
    return normalise_forward(x, epsilon)[0]


def _normalise_saving(x: Any, epsilon: Any) -> tuple[Any, Any]:
    y, inverse = normalise_forward(x, epsilon)
    return y, (y, inverse)


def _normalise_slopes(saved: tuple[Any, Any], g: Any) -> tuple[Any, Any]:
    return normalise_backward(*saved, g), jnp.zeros((), jnp.float32)


_normalise.defvjp(_normalise_saving, _normalise_slopes)


def normalise(x: Any, epsilon: float) -> Any:
    """``x`` [rows, columns] with each row of mean 0 and variance 1; same shape and dtype."""
    return _normalise(x, jnp.float32(epsilon))


def layer_norm(x: Any, scale: Any, bias: Any, *, axis: int, epsilon: float) -> Any:
    """Normalise ``x`` over the axes from ``axis`` on; scale and bias (or None) broadcast against those axes."""
    axis %= x.ndim
    columns = 1
    for size in x.shape[axis:]:
        columns *= size
    y = _normalise(x.reshape(-1, columns), jnp.float32(epsilon)).reshape(x.shape) * scale
    return y if bias is None else y + bias


def group_norm(x: Any, scale: Any, bias: Any, *, groups: int, epsilon: float) -> Any:
    """Normalise ``x`` [N, C, ...] over groups of channels; scale and bias are [C]."""
    rows = x.reshape(x.shape[0] * groups, -1)
    y = _normalise(rows, jnp.float32(epsilon)).reshape(x.shape)
    return y * per_channel(scale, x.ndim) + per_channel(bias, x.ndim)


def per_channel(vector: Any, ndim: int) -> Any:
    """``vector`` [C] shaped to broadcast against [N, C, ...] of ``ndim`` dimensions."""
    return vector.reshape((1, -1) + (1,) * (ndim - 2))


def _channels(name: str) -> Any:
    def describe(shapes: Shapes) -> dict[str, Any]:
        batch, channels, field = shapes[0]
        return {"name": name, "rows": channels, "columns": batch * field}

    return describe


@whole("NORM", _channels("batch_norm_inference"))
def batch_norm_inference(x: Any, scale: Any, bias: Any, mean: Any, variance: Any, epsilon: Any) -> Any:
    """``x`` [N, C, field] with given statistics [C]: one multiply and one add an element."""
    gain = scale.astype(jnp.float32) * jax.lax.rsqrt(variance.astype(jnp.float32) + epsilon)
    shift = bias.astype(jnp.float32) - mean.astype(jnp.float32) * gain
    return (x.astype(jnp.float32) * gain[None, :, None] + shift[None, :, None]).astype(x.dtype)


@whole("NORM", _channels("batch_norm"))
def batch_norm_forward(x: Any, scale: Any, bias: Any, epsilon: Any) -> tuple[Any, Any, Any, Any]:
    """``x`` [N, C, field] with its own statistics: (result, mean [C], biased variance [C], inverse deviation [C])."""
    wide = x.astype(jnp.float32)
    mean = jnp.mean(wide, axis=(0, 2))
    variance = jnp.mean(jnp.square(wide - mean[None, :, None]), axis=(0, 2))
    inverse = jax.lax.rsqrt(variance + epsilon)
    y = (wide - mean[None, :, None]) * (inverse * scale)[None, :, None] + bias[None, :, None]
    return y.astype(x.dtype), mean, variance, inverse


@whole("NORM", _channels("batch_norm_backward"))
def batch_norm_backward(x: Any, scale: Any, mean: Any, inverse: Any, g: Any) -> tuple[Any, Any, Any]:
    wide, slope = x.astype(jnp.float32), g.astype(jnp.float32)
    unit = (wide - mean[None, :, None]) * inverse[None, :, None]
    d_bias = jnp.sum(slope, axis=(0, 2))
    d_scale = jnp.sum(slope * unit, axis=(0, 2))
    count = x.shape[0] * x.shape[2]
    centred = slope - (d_bias / count)[None, :, None] - unit * (d_scale / count)[None, :, None]
    return ((inverse * scale)[None, :, None] * centred).astype(x.dtype), d_scale, d_bias


@jax.custom_vjp
def batch_norm_training(x: Any, scale: Any, bias: Any, epsilon: Any) -> tuple[Any, Any, Any]:
    """``x`` [N, C, field] normalised by its own statistics: (result, mean [C], biased variance [C])."""
    y, mean, variance, _ = batch_norm_forward(x, scale, bias, epsilon)
    return y, mean, variance


def _batch_saving(x: Any, scale: Any, bias: Any, epsilon: Any) -> tuple[Any, Any]:
    y, mean, variance, inverse = batch_norm_forward(x, scale, bias, epsilon)
    return (y, mean, variance), (x, scale, bias, mean, inverse)


def _batch_slopes(saved: tuple[Any, ...], slopes: tuple[Any, Any, Any]) -> tuple[Any, ...]:
    # statistics only feed running averages, which carry no gradient
    x, scale, bias, mean, inverse = saved
    d_x, d_scale, d_bias = batch_norm_backward(x, scale, mean, inverse, slopes[0])
    return d_x, d_scale.astype(scale.dtype), d_bias.astype(bias.dtype), jnp.zeros((), jnp.float32)


batch_norm_training.defvjp(_batch_saving, _batch_slopes)
