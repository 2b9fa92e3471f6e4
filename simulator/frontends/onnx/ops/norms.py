"""Normalisations, on the composites that stay whole in the trace; and dropout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.composites import norms
from simulator.composites.dropout import dropout as dropped
from simulator.composites.rms_norm import rms_norm as rms_norm_rows
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op


@op("BatchNormalization", untrained=(3, 4))
def batch_norm(call: Call, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    """In training the batch's own statistics, which move the running ones; else the given ones."""
    x = jnp.asarray(x)
    rows = x.reshape(x.shape[0], x.shape[1] if x.ndim > 1 else 1, -1)
    epsilon = jnp.float32(call.attr("epsilon", 1e-5))
    given = tuple(jnp.asarray(v) for v in (scale, bias, mean, variance))
    if not (call.training or call.attr("training_mode", 0)):
        return norms.batch_norm_inference(rows, *given, epsilon).reshape(x.shape)
    y, own_mean, own_variance = norms.batch_norm_training(rows, given[0], given[1], epsilon)
    keep = call.attr("momentum", 0.9)
    new_mean = (given[2] * keep + own_mean * (1 - keep)).astype(given[2].dtype)
    new_variance = (given[3] * keep + own_variance * (1 - keep)).astype(given[3].dtype)
    call.update_weight(3, new_mean)
    call.update_weight(4, new_variance)
    return (y.reshape(x.shape), new_mean, new_variance)


@op("LayerNormalization")
def layer_norm(call: Call, x: Any, scale: Any, bias: Any = None) -> Any:
    axis, epsilon = call.attr("axis", -1), call.attr("epsilon", 1e-5)
    y = norms.layer_norm(jnp.asarray(x), scale, bias, axis=axis, epsilon=epsilon)
    if len(call.node.outputs) < 2:
        return y
    axes = tuple(range(axis % x.ndim, x.ndim))
    mean = jnp.mean(x, axes, keepdims=True)
    return y, mean, jax.lax.rsqrt(jnp.var(x, axes, keepdims=True) + epsilon)


@op("InstanceNormalization")
def instance_norm(call: Call, x: Any, scale: Any, bias: Any) -> Any:
    x = jnp.asarray(x)
    return norms.group_norm(x, scale, bias, groups=x.shape[1], epsilon=call.attr("epsilon", 1e-5))


@op("GroupNormalization")
def group_norm(call: Call, x: Any, scale: Any, bias: Any) -> Any:
    x, groups = jnp.asarray(x), call.required("num_groups")
    if call.opset < 21:  # one scale a group
        scale, bias = (jnp.repeat(jnp.asarray(v), x.shape[1] // groups) for v in (scale, bias))
    return norms.group_norm(x, scale, bias, groups=groups, epsilon=call.attr("epsilon", 1e-5))


@op("RMSNormalization")
def rms_norm(call: Call, x: Any, scale: Any) -> Any:
    axes = range(call.attr("axis", -1) % x.ndim, x.ndim)
    return over_axes(x, axes, lambda rows: rms_norm_rows(rows, call.attr("epsilon", 1e-5))) * scale


@op("Normalise", domain="podium")
def normalise(call: Call, x: Any, scale: Any = None, shift: Any = None) -> Any:
    """Mean 0 and variance 1 over any axes: a layer norm, with or without its scale and shift."""
    y = over_axes(x, call.required("axes"), lambda rows: norms.normalise(rows, call.required("epsilon")))
    return y if scale is None else y * scale + shift


@op("NormaliseSize", domain="podium")
def normalise_size(call: Call, x: Any) -> Any:
    """Mean square 1 over any axes: a root-mean-square norm without its scale."""
    return over_axes(x, call.required("axes"), lambda rows: rms_norm_rows(rows, call.required("epsilon")))


def over_axes(x: Any, axes: Iterable[int], function: Callable[[Any], Any]) -> Any:
    """``function`` of rows [rest, elements of the axes], put back in the shape of ``x``."""
    inner = sorted(int(a) % x.ndim for a in axes)
    order = [d for d in range(x.ndim) if d not in inner] + inner
    straight = order == list(range(x.ndim))
    turned = jnp.asarray(x) if straight else jnp.transpose(x, order)
    y = function(turned.reshape(-1, math.prod(x.shape[a] for a in inner))).reshape(turned.shape)
    return y if straight else jnp.transpose(y, np.argsort(order).tolist())


@op("LpNormalization")
def lp_norm(call: Call, x: Any) -> Any:
    axis = call.attr("axis", -1)
    if call.attr("p", 2) == 1:
        size = jnp.sum(jnp.abs(x), axis, keepdims=True)
    else:
        size = jnp.sqrt(jnp.sum(jnp.square(x), axis, keepdims=True))
    return jnp.where(size == 0, jnp.zeros((), x.dtype), x / jnp.where(size == 0, 1, size).astype(x.dtype))


@op("MeanVarianceNormalization")
def mean_variance_norm(call: Call, x: Any) -> Any:
    axes = tuple(call.attr("axes", (0, 2, 3)))
    centred = x - jnp.mean(x, axes, keepdims=True)
    return centred / (jnp.sqrt(jnp.mean(jnp.square(centred), axes, keepdims=True)) + 1e-9)


@op("Dropout", static=(1, 2))
def dropout(call: Call, x: Any, ratio: Any = None, training: Any = None) -> Any:
    """Only a training run drops. A file's own training_mode does so only where it is run to the letter, with numpy's
    generator from the seed of the file, as ONNX's own definition has it."""
    x = jnp.asarray(x)
    rate = float(call.attr("ratio", 0.5) if ratio is None else call.known(ratio, "ratio").reshape(-1)[0])
    asked = call.context.exact and training is not None and bool(call.known(training, "training mode").all())
    if not (call.training or asked) or rate <= 0.0:
        return x, jnp.ones(x.shape, bool)
    if not asked:
        key = call.key()
        return dropped(x, key, rate), jax.random.bernoulli(key, 1.0 - rate, x.shape)
    keep = jnp.asarray(np.random.RandomState(call.attr("seed", 0)).uniform(0, 1, x.shape) >= rate)
    return jnp.where(keep, x / jnp.asarray(1.0 - rate, x.dtype), jnp.zeros((), x.dtype)), keep
