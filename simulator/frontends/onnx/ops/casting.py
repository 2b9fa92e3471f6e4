"""Casts between element types, down to 8, 4 and 2 bits, with ONNX's rules for what is out of range."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op

SATURATING = frozenset({"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"})
SCALE_TYPE = "float8_e8m0fnu"  # a power of two: eight bits of exponent and nothing else
SMALL_INTEGERS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}


@op("Cast")
def cast(call: Call, x: Any) -> Any:
    to = call.required("to")
    code = TensorProto.DataType.Value(to.decode()) if isinstance(to, bytes) else to  # a name before opset 6
    return _cast(call, x, np.dtype(helper.tensor_dtype_to_np_dtype(code)))


@op("CastLike")
def cast_like(call: Call, x: Any, like: Any) -> Any:
    return _cast(call, x, np.dtype(like.dtype))


def _cast(call: Call, x: Any, wanted: Any) -> Any:
    if is_wide_float(wanted) and call.context.float_type is not None and not isinstance(x, np.ndarray):
        wanted = np.dtype(call.context.float_type)
    if wanted.kind in "OSU" or x.dtype.kind in "OSU":
        return _text(x, wanted)
    saturate = bool(call.attr("saturate", 1))
    return cast_to(x, wanted, saturate=saturate, rounding=call.text("round_mode", "up"))


def is_wide_float(dtype: Any) -> bool:
    """True for float types of 16 bits and more: those that the precision of a run decides."""
    return bool(jnp.issubdtype(dtype, jnp.floating)) and np.dtype(dtype).itemsize >= 2


def cast_to(x: Any, dtype: Any, *, saturate: bool = True, rounding: str = "up") -> Any:
    """Cast as ONNX does: floats to integers towards zero, to 8-bit floats saturating unless told otherwise."""
    dtype = np.dtype(dtype)
    if dtype.name == SCALE_TYPE and is_wide_float(x.dtype):
        return _power_of_two(jnp.asarray(x), saturate, rounding)
    if saturate and dtype.name in SATURATING and is_wide_float(x.dtype):
        most = float(jnp.finfo(dtype).max)
        clipped = jnp.clip(jnp.asarray(x), -most, most)
        return jnp.where(jnp.isnan(x), jnp.asarray(x), clipped).astype(dtype)
    if dtype.name in SMALL_INTEGERS:
        return _wrapped(jnp.asarray(x), dtype)
    if isinstance(x, np.ndarray):
        with np.errstate(invalid="ignore", over="ignore"):
            return x.astype(dtype)
    if jnp.issubdtype(dtype, jnp.unsignedinteger) and jnp.issubdtype(x.dtype, jnp.floating):
        x = x.astype(jnp.int32 if dtype.itemsize < 4 else jnp.int64)  # a negative float wraps around
    return x.astype(jax.dtypes.canonicalize_dtype(dtype))


def _wrapped(x: Any, dtype: Any) -> Any:
    """The low bits of the whole part."""
    bits, signed = SMALL_INTEGERS[dtype.name], dtype.name.startswith("int")
    low = x.astype(jnp.int32) & ((1 << bits) - 1)
    if signed:
        low = jnp.where(low >= 1 << (bits - 1), low - (1 << bits), low)
    return low.astype(dtype)


def _power_of_two(x: Any, saturate: bool, rounding: str) -> Any:
    """The exponent of the float32, rounded by its fraction."""
    pattern = jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
    exponent, fraction = (pattern >> 23) & 0xFF, pattern & 0x7FFFFF
    if rounding == "up":
        more = fraction > 0
    elif rounding == "nearest":  # ties go up, except below the smallest power
        more = (fraction > 0x400000) | ((fraction == 0x400000) & (exponent > 0))
    else:
        more = jnp.zeros(fraction.shape, bool)
    if saturate:
        more = more & (exponent != 0xFE)
    found = jnp.where(exponent == 0xFF, exponent, exponent + more)
    return jax.lax.bitcast_convert_type(found.astype(jnp.uint8), ml_dtypes.float8_e8m0fnu)


def _text(x: Any, wanted: Any) -> Any:
    """Numbers from strings and back: values known before the run only."""
    if not isinstance(x, np.ndarray) or wanted.kind not in "OSUfiub":
        raise TypeError("strings are cast only where they are known before the run")
    if wanted.kind in "OSU":
        return np.array([str(v) for v in x.reshape(-1)], object).reshape(x.shape)
    numbers = [float(v) if wanted.kind == "f" else int(float(v)) for v in x.reshape(-1)]
    return np.array(numbers, wanted).reshape(x.shape)


@op("BitCast")
def bit_cast(call: Call, x: Any) -> Any:
    wanted = np.dtype(helper.tensor_dtype_to_np_dtype(call.required("to")))
    if x.dtype == np.bool_:
        x = jnp.asarray(x).astype(jnp.uint8)
    if wanted == np.bool_:
        return jax.lax.bitcast_convert_type(jnp.asarray(x), jnp.uint8).astype(bool)
    return jax.lax.bitcast_convert_type(jnp.asarray(x), wanted)
