"""Element by element over one to many broadcast inputs: arithmetic, comparison, logic. No activations or casts."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call, xp
from simulator.frontends.onnx.registry import op

BINARY = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Equal": "equal", "Greater": "greater", "Less": "less",
    "GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal", "And": "logical_and", "Or": "logical_or",
    "Xor": "logical_xor", "BitwiseAnd": "bitwise_and", "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
}  # fmt: skip
UNARY = {
    "Abs": "abs", "Neg": "negative", "Floor": "floor", "Ceil": "ceil", "Sqrt": "sqrt", "Exp": "exp", "Log": "log",
    "Sin": "sin", "Cos": "cos", "Tan": "tan", "Sinh": "sinh", "Cosh": "cosh", "Asin": "arcsin",
    "Acos": "arccos", "Atan": "arctan", "Asinh": "arcsinh", "Acosh": "arccosh", "Atanh": "arctanh", "Sign": "sign",
    "Not": "logical_not", "IsNaN": "isnan", "BitwiseNot": "bitwise_not", "Round": "round",
}  # fmt: skip


def _binary(name: str) -> Callable[..., Any]:
    def function(call: Call, a: Any, b: Any) -> Any:
        b = legacy(call, a, b)
        shape = broadcast(call, a, b)
        return getattr(call.space(shape, a, b), name)(a, b)

    return function


def _unary(name: str) -> Callable[..., Any]:
    def function(call: Call, x: Any) -> Any:
        return keep_type(getattr(xp(x), name)(x), x)

    return function


for _operator, _name in BINARY.items():
    op(_operator)(_binary(_name))
for _operator, _name in UNARY.items():
    op(_operator)(_unary(_name))


def legacy(call: Call, a: Any, b: Any) -> Any:
    """``b`` placed against ``a`` as before opset 7, where an attribute said at which axis."""
    axis = call.attr("axis") if call.opset < 7 and call.attr("broadcast", 0) else None
    return b if axis is None else b.reshape((*b.shape, *(1,) * (a.ndim - axis % a.ndim - b.ndim)))


def broadcast(call: Call, *values: Any) -> tuple[int, ...]:
    """The common shape of the values, refused when it would be too large."""
    return call.claim(np.broadcast_shapes(*(v.shape for v in values)))


def keep_type(result: Any, x: Any) -> Any:
    """numpy widens some scalars; ONNX keeps the type of floats."""
    if isinstance(result, np.ndarray | np.generic) and result.dtype.kind == "f":
        return np.asarray(result, x.dtype)
    return result


@op("Div")
def divide(call: Call, a: Any, b: Any) -> Any:
    b = legacy(call, a, b)
    shape = broadcast(call, a, b)
    space = call.space(shape, a, b)
    if a.dtype.kind not in "iu":
        return space.divide(a, b)
    if space is np:  # ONNX divides integers towards zero
        return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)
    return jax.lax.div(jnp.broadcast_to(jnp.asarray(a), shape), jnp.broadcast_to(jnp.asarray(b), shape))


@op("Mod")
def modulo(call: Call, a: Any, b: Any) -> Any:
    space = call.space(broadcast(call, a, b), a, b)
    return space.fmod(a, b) if call.attr("fmod", 0) else space.mod(a, b)


@op("Pow")
def power(call: Call, x: Any, exponent: Any) -> Any:
    exponent = legacy(call, x, exponent)
    space = call.space(broadcast(call, x, exponent), x, exponent)
    if space is jnp and isinstance(exponent, np.ndarray) and exponent.size == 1:
        value = float(exponent.reshape(-1)[0])
        if value.is_integer() and 0 <= value <= 64:
            return jnp.broadcast_to(jax.lax.integer_pow(x, int(value)), np.broadcast_shapes(x.shape, exponent.shape))
    return space.power(x, exponent).astype(x.dtype)


@op("BitShift")
def shift(call: Call, x: Any, by: Any) -> Any:
    space = call.space(broadcast(call, x, by), x, by)
    left = call.text("direction", "LEFT") == "LEFT"
    return (space.left_shift if left else space.right_shift)(x, by)


@op("Reciprocal")
def reciprocal(call: Call, x: Any) -> Any:
    return keep_type(1 / x, x)


@op("Erf")
def erf(call: Call, x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.vectorize(math.erf, otypes=[x.dtype])(x) if x.size else x
    return jax.lax.erf(x)


@op("IsInf")
def is_infinite(call: Call, x: Any) -> Any:
    space = xp(x)
    positive = bool(call.attr("detect_positive", 1))
    negative = bool(call.attr("detect_negative", 1))
    return (space.isposinf(x) & positive) | (space.isneginf(x) & negative)


def _folded(name: str) -> Callable[..., Any]:
    def function(call: Call, *values: Any) -> Any:
        space = call.space(broadcast(call, *values), *values)
        return functools.reduce(getattr(space, name), values)

    return function


op("Max")(_folded("maximum"))
op("Min")(_folded("minimum"))
op("Sum")(_folded("add"))


@op("Mean")
def mean(call: Call, *values: Any) -> Any:
    space = call.space(broadcast(call, *values), *values)
    return keep_type(functools.reduce(space.add, values) / len(values), values[0])


@op("Where")
def where(call: Call, condition: Any, a: Any, b: Any) -> Any:
    space = call.space(broadcast(call, condition, a, b), condition, a, b)
    return space.where(condition, a, b)


@op("Clip", static=(1, 2))
def clip(call: Call, x: Any, low: Any = None, high: Any = None) -> Any:
    low = call.attr("min") if low is None else low
    high = call.attr("max") if high is None else high
    space = xp(x, low, high)
    # ONNX: the upper bound wins when the bounds cross
    if low is not None:
        x = space.maximum(x, space.asarray(low, x.dtype))
    if high is not None:
        x = space.minimum(x, space.asarray(high, x.dtype))
    return x
