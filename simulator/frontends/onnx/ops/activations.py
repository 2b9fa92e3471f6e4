"""Activation functions and softmax. Those whose gradient matters at a corner use JAX's own rule."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites import activations as whole
from simulator.composites.norms import per_channel
from simulator.composites.softmax import log_softmax, softmax
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op


@op("Relu")
def relu(call: Call, x: Any) -> Any:
    return whole.relu(jnp.asarray(x))


@op("Sigmoid")
def sigmoid(call: Call, x: Any) -> Any:
    return whole.logistic(jnp.asarray(x))


@op("Tanh")
def tanh(call: Call, x: Any) -> Any:
    return whole.tanh(jnp.asarray(x))


@op("LeakyRelu")
def leaky_relu(call: Call, x: Any) -> Any:
    return jnp.where(x >= 0, x, x * jnp.asarray(call.attr("alpha", 0.01), x.dtype))


@op("PRelu")
def prelu(call: Call, x: Any, slope: Any) -> Any:
    if call.opset < 7 and slope.ndim == 1:  # one slope a channel
        slope = per_channel(slope, x.ndim)
    return jnp.where(x >= 0, x, x * slope)


@op("Elu")
def elu(call: Call, x: Any) -> Any:
    return jnp.where(x > 0, x, call.attr("alpha", 1.0) * jnp.expm1(jnp.minimum(x, 0))).astype(x.dtype)


@op("Selu")
def selu(call: Call, x: Any) -> Any:
    alpha = call.attr("alpha", 1.67326319217681884765625)
    gamma = call.attr("gamma", 1.05070102214813232421875)
    return (gamma * jnp.where(x > 0, x, alpha * jnp.expm1(jnp.minimum(x, 0)))).astype(x.dtype)


@op("Celu")
def celu(call: Call, x: Any) -> Any:
    alpha = call.attr("alpha", 1.0)
    return (jnp.maximum(x, 0) + jnp.minimum(0, alpha * jnp.expm1(jnp.minimum(x, 0) / alpha))).astype(x.dtype)


@op("HardSigmoid")
def hard_sigmoid(call: Call, x: Any) -> Any:
    return jnp.clip(call.attr("alpha", 0.2) * x + call.attr("beta", 0.5), 0, 1).astype(x.dtype)


@op("HardSwish")
def hard_swish(call: Call, x: Any) -> Any:
    return (x * jnp.clip(x / 6 + 0.5, 0, 1)).astype(x.dtype)


@op("Softplus")
def softplus(call: Call, x: Any) -> Any:
    return jax.nn.softplus(x)


@op("Softsign")
def softsign(call: Call, x: Any) -> Any:
    return x / (1 + jnp.abs(x))


@op("ThresholdedRelu")
def thresholded_relu(call: Call, x: Any) -> Any:
    return jnp.where(x > call.attr("alpha", 1.0), x, jnp.zeros((), x.dtype))


@op("Shrink")
def shrink(call: Call, x: Any) -> Any:
    bias, threshold = call.attr("bias", 0.0), call.attr("lambd", 0.5)
    return jnp.where(x < -threshold, x + bias, jnp.where(x > threshold, x - bias, 0)).astype(x.dtype)


@op("Gelu")
def gelu(call: Call, x: Any) -> Any:
    function = whole.gelu_tanh if call.text("approximate", "none") == "tanh" else whole.gelu
    return function(jnp.asarray(x))


@op("Mish")
def mish(call: Call, x: Any) -> Any:
    return x * jnp.tanh(jax.nn.softplus(x))


@op("Swish")
def swish(call: Call, x: Any) -> Any:
    alpha = call.attr("alpha", 1.0)
    if alpha == 1.0:
        return whole.silu(jnp.asarray(x))
    return x * jax.nn.sigmoid(jnp.asarray(alpha, x.dtype) * x)


@op("Softmax")
def softmax_(call: Call, x: Any) -> Any:
    return _over_axis(call, x, softmax)


@op("LogSoftmax")
def log_softmax_(call: Call, x: Any) -> Any:
    return _over_axis(call, x, log_softmax)


def _over_axis(call: Call, x: Any, function: Any) -> Any:
    """Before opset 13 all axes from ``axis`` on are one."""
    x = jnp.asarray(x)
    if call.opset >= 13:
        return function(x, call.attr("axis", -1))
    axis = call.attr("axis", 1) % max(1, x.ndim)
    rows = 1
    for size in x.shape[:axis]:
        rows *= size
    return function(x.reshape(rows, -1), 1).reshape(x.shape)


@op("Hardmax")
def hardmax(call: Call, x: Any) -> Any:
    if call.opset >= 13:
        axis = call.attr("axis", -1)
        return jax.nn.one_hot(jnp.argmax(x, axis), x.shape[axis], dtype=x.dtype, axis=axis)
    axis = call.attr("axis", 1) % max(1, x.ndim)
    rows = 1
    for size in x.shape[:axis]:
        rows *= size
    flat = x.reshape(rows, -1)
    return jax.nn.one_hot(jnp.argmax(flat, -1), flat.shape[1], dtype=x.dtype).reshape(x.shape)


@op("SwiGLU")
def swiglu(call: Call, gate: Any, x: Any) -> Any:
    """gate * sigmoid(alpha gate) * x, of one shape."""
    if gate.shape != x.shape:
        raise call.invalid(f"has inputs of shapes {list(gate.shape)} and {list(x.shape)}, which must be equal")
    return swish(call, gate) * x
