"""Products and their neighbours fused by onnxruntime (com.microsoft), in floats and in 8 and 4 bits."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.composites import activations as whole
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.convolution import conv
from simulator.frontends.onnx.ops.matmul import gemm, matmul, matmul_integer
from simulator.frontends.onnx.ops.quantisation import dequantise, dynamic_quantise, quantise
from simulator.frontends.onnx.ops.recurrent import lstm
from simulator.frontends.onnx.registry import op

MS = "com.microsoft"

op("QuantizeLinear", domain=MS, untrained=(1, 2))(quantise)
op("DequantizeLinear", domain=MS, untrained=(1, 2))(dequantise)


@op("FusedMatMul", domain=MS)
def fused_matmul(call: Call, a: Any, b: Any) -> Any:
    if call.attr("transBatchA", 0) or call.attr("transBatchB", 0):
        raise call.invalid("turns its batches, which is not supported")
    a, b = (
        jnp.swapaxes(v, -1, -2) if call.attr(name, 0) else v for v, name in ((jnp.asarray(a), "transA"), (b, "transB"))
    )
    alpha = call.attr("alpha", 1.0)
    product = matmul(call, a, b)
    return product if alpha == 1.0 else product * jnp.asarray(alpha, product.dtype)


def _activated(call: Call, y: Any) -> Any:
    """The activation that the node names, with its parameters."""
    name = call.text("activation", "")
    given = list(call.attr("activation_params") or [])
    slope = given[0] if given else call.attr("activation_alpha", 0.01)
    functions: dict[str, Any] = {
        "": lambda v: v,
        "Relu": whole.relu,
        "Sigmoid": whole.logistic,
        "Tanh": whole.tanh,
        "LeakyRelu": lambda v: jnp.where(v >= 0, v, v * jnp.asarray(slope, v.dtype)),
        "Clip": lambda v: jnp.clip(v, given[0], given[1]),
        "HardSigmoid": lambda v: jnp.clip(v * given[0] + given[1], 0, 1),
    }
    if name not in functions:
        raise call.invalid(f"uses activation {name[:50]}, which is not supported")
    return functions[name](y)


@op("FusedConv", domain=MS)
def fused_conv(call: Call, x: Any, w: Any, bias: Any = None, added: Any = None) -> Any:
    y = conv(call, x, w, bias)
    return _activated(call, y if added is None else y + added)


@op("FusedGemm", domain=MS)
def fused_gemm(call: Call, a: Any, b: Any, c: Any = None) -> Any:
    return _activated(call, gemm(call, a, b, c))


@op("MatMulIntegerToFloat", domain=MS, untrained=(2, 3, 4, 5))
def matmul_integer_to_float(
    call: Call, a: Any, b: Any, a_scale: Any, b_scale: Any, a_zero: Any = None, b_zero: Any = None, bias: Any = None
) -> Any:
    product = matmul_integer(call, a, b, a_zero, b_zero).astype(a_scale.dtype) * (a_scale * b_scale)
    return product if bias is None else product + bias


@op("DynamicQuantizeMatMul", domain=MS, untrained=(2, 3))
def dynamic_matmul(call: Call, a: Any, b: Any, b_scale: Any, b_zero: Any = None, bias: Any = None) -> Any:
    level, scale, zero = dynamic_quantise(call, jnp.asarray(a))
    return matmul_integer_to_float(call, level, b, scale, b_scale, zero, b_zero, bias)


@op("DynamicQuantizeLSTM", domain=MS, untrained=(8, 9, 10, 11))
def dynamic_lstm(
    call: Call, x: Any, w: Any, r: Any, b: Any, lengths: Any, h0: Any, c0: Any, p: Any, w_scale: Any, w_zero: Any,
    r_scale: Any, r_zero: Any,
) -> Any:  # fmt: skip
    """Weights [directions, inputs, 4 hidden] in 8 bits; what meets them is rounded to 8 bits of its own range."""

    def rounded(value: Any) -> Any:
        level, scale, zero = dynamic_quantise(call, value)
        return (level.astype(value.dtype) - zero.astype(value.dtype)) * scale

    wide = (
        jnp.swapaxes((v.astype(x.dtype) - _fitted(z, v).astype(x.dtype)) * _fitted(s, v), 1, 2)
        for v, s, z in ((w, w_scale, w_zero), (r, r_scale, r_zero))
    )
    return lstm(call, x, *wide, b, lengths, h0, c0, p, through=rounded)


def _fitted(value: Any, like: Any) -> Any:
    """One number a direction, or one a column of each, against [directions, inputs, columns]."""
    value = jnp.asarray(value)
    return value.reshape(-1, 1, 1) if value.ndim < 2 else value.reshape(like.shape[0], 1, -1)


@op("MatMulNBits", domain=MS, untrained=(1, 2, 3))
def block_matmul(
    call: Call, a: Any, b: Any, scales: Any, zeros: Any = None, order: Any = None, bias: Any = None
) -> Any:
    """Weights [columns, blocks, bytes] of 4 or 8 bits, each block with a scale and a zero of its own."""
    k, n, bits, size = (call.required(name) for name in ("K", "N", "bits", "block_size"))
    if bits not in (4, 8) or order is not None:
        raise call.invalid(f"has weights of {bits} bits, or in another order, which is not supported")
    blocks = -(-k // size)
    level = _unpacked(jnp.asarray(b), bits).reshape(n, blocks, size)
    if zeros is None:
        zero: Any = 1 << (bits - 1)
    elif jnp.issubdtype(zeros.dtype, jnp.floating):
        zero = jnp.asarray(zeros).reshape(n, blocks, 1)
    else:
        zero = _unpacked(jnp.asarray(zeros).reshape(n, -1), bits)[:, :blocks].reshape(n, blocks, 1)
    w = (level.astype(a.dtype) - jnp.asarray(zero, a.dtype)) * jnp.asarray(scales).reshape(n, blocks, 1)
    y = jnp.matmul(a, w.reshape(n, -1)[:, :k].T.astype(a.dtype))
    return y if bias is None else y + bias


def _unpacked(packed: Any, bits: int) -> Any:
    """Numbers of bytes that hold two each, the low half first."""
    if bits == 8:
        return packed
    return jnp.stack([packed & 15, packed >> 4], -1).reshape(*packed.shape[:-1], -1)


def _numbers(x: Any, scale: Any, zero: Any) -> Any:
    return (jnp.asarray(x).astype(jnp.float32) - jnp.asarray(0 if zero is None else zero, jnp.float32)) * scale


def _levels(y: Any, scale: Any, zero: Any, dtype: Any) -> Any:
    bounds = np.iinfo(np.dtype(dtype))
    level = jnp.round(y / scale) + jnp.asarray(0 if zero is None else zero, jnp.float32)
    return jnp.clip(level, bounds.min, bounds.max).astype(dtype)


def _of_two(function: Any) -> Any:
    def run(
        call: Call, a: Any, a_scale: Any, a_zero: Any, b: Any, b_scale: Any, b_zero: Any, scale: Any, zero: Any = None
    ) -> Any:
        return _levels(function(_numbers(a, a_scale, a_zero), _numbers(b, b_scale, b_zero)), scale, zero, a.dtype)

    return run


def _of_one(function: Any) -> Any:
    def run(call: Call, x: Any, x_scale: Any, x_zero: Any, scale: Any, zero: Any = None) -> Any:
        return _levels(function(call, _numbers(x, x_scale, x_zero)), scale, zero, x.dtype)

    return run


def _mean_field(call: Call, x: Any) -> Any:
    last = bool(call.attr("channels_last", 0))
    return jnp.mean(x, tuple(range(1, x.ndim - 1) if last else range(2, x.ndim)), keepdims=True)


op("QLinearAdd", domain=MS, untrained=(1, 2, 4, 5, 6, 7))(_of_two(jnp.add))
op("QLinearMul", domain=MS, untrained=(1, 2, 4, 5, 6, 7))(_of_two(jnp.multiply))
op("QLinearSigmoid", domain=MS, untrained=(1, 2, 3, 4))(_of_one(lambda call, x: jax.nn.sigmoid(x)))
op("QLinearLeakyRelu", domain=MS, untrained=(1, 2, 3, 4))(
    _of_one(lambda call, x: jnp.where(x >= 0, x, x * call.attr("alpha", 0.01)))
)
op("QLinearGlobalAveragePool", domain=MS, untrained=(1, 2, 3, 4))(_of_one(_mean_field))


@op("QLinearConcat", domain=MS)
def quantised_concat(call: Call, scale: Any, zero: Any, *parts: Any) -> Any:
    """Triples of levels, scale and zero point."""
    wide = [_numbers(*parts[i : i + 3]) for i in range(0, len(parts), 3)]
    return _levels(jnp.concatenate(wide, call.required("axis")), scale, zero, parts[0].dtype)
