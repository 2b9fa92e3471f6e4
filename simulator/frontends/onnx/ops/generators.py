"""Tensors made from nothing but shapes and numbers: fills, ranges, random numbers. Each claims its size first."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from onnx import helper

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op


@op("ConstantOfShape", static=(0,))
def constant_of_shape(call: Call, shape: Any) -> Any:
    value = call.attr("value")
    value = np.zeros(1, np.float32) if value is None else np.asarray(value).reshape(-1)
    sizes = call.claim(call.integers(shape, "shape"), value.itemsize)
    space = call.space(sizes)
    return space.full(sizes, value[0])


@op("Range", static=(0, 1, 2))
def range_(call: Call, start: Any, limit: Any, delta: Any) -> Any:
    first, last, step = (call.known(v, "bounds").reshape(-1)[0] for v in (start, limit, delta))
    if step == 0:
        raise call.invalid("has a step of 0")
    count = max(0, math.ceil((float(last) - float(first)) / float(step)))
    sizes = call.claim([count], start.dtype.itemsize)
    space = call.space(sizes)
    return (first + space.arange(count) * step).astype(start.dtype)


def _random_shape(call: Call, like: Any) -> tuple[int, ...]:
    return call.claim(call.required("shape") if like is None else like.shape)


def _random_dtype(call: Call, like: Any) -> Any:
    code = call.attr("dtype")
    if code is not None:
        return jax.dtypes.canonicalize_dtype(helper.tensor_dtype_to_np_dtype(code))
    return jnp.float32 if like is None else like.dtype


def _key(call: Call) -> Any:
    """The run's own chance in training; in inference the seed of the file, so that a rerun agrees."""
    return (
        call.key() if call.training else jax.random.fold_in(jax.random.key(int(call.attr("seed", 0))), call.node.index)
    )


@op("RandomNormal", "RandomNormalLike")
def random_normal(call: Call, like: Any = None) -> Any:
    noise = jax.random.normal(_key(call), _random_shape(call, like), _random_dtype(call, like))
    return noise * call.attr("scale", 1.0) + call.attr("mean", 0.0)


@op("RandomUniform", "RandomUniformLike")
def random_uniform(call: Call, like: Any = None) -> Any:
    low, high = call.attr("low", 0.0), call.attr("high", 1.0)
    return jax.random.uniform(_key(call), _random_shape(call, like), _random_dtype(call, like), low, high)


@op("Bernoulli")
def bernoulli(call: Call, probability: Any) -> Any:
    drawn = jax.random.uniform(_key(call), probability.shape) < probability
    return drawn.astype(_random_dtype(call, probability))


@op("Multinomial")
def multinomial(call: Call, logits: Any) -> Any:
    """Classes drawn by unnormalised log-probabilities [N, classes]: [N, samples]."""
    rows, count = logits.shape[0], call.attr("sample_size", 1)
    call.claim([rows, count, logits.shape[1]])
    drawn = jax.random.categorical(_key(call), jnp.asarray(logits)[:, None, :], shape=(rows, count))
    return drawn.astype(jax.dtypes.canonicalize_dtype(helper.tensor_dtype_to_np_dtype(call.attr("dtype", 6))))
