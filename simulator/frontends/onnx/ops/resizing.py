"""Resize and Upsample: nearest, linear and cubic, as one gather or one small matrix an axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op


@op("Upsample", static=(1,))
def upsample(call: Call, x: Any, scales: Any = None) -> Any:
    factors = call.attr("scales") if scales is None else call.known(scales, "scales").reshape(-1)
    sizes = call.claim([math.floor(n * float(s)) for n, s in zip(x.shape, factors, strict=True)])
    axes = list(range(x.ndim))
    return _resize(call, x, axes, sizes, [float(s) for s in factors], "asymmetric", "floor")


@op("Resize", static=(1, 2, 3))
def resize(call: Call, x: Any, *rest: Any) -> Any:
    if call.opset < 11:
        return upsample(call, x, *rest)
    roi, scales, wanted = (*rest, None, None, None)[:3]
    axes = [int(a) % x.ndim for a in call.attr("axes") or range(x.ndim)]
    if wanted is not None and np.size(wanted):
        sizes, factors = _by_size(call, x, axes, call.integers(wanted, "sizes"))
    else:
        factors = [float(s) for s in call.known(scales, "scales").reshape(-1)]
        sizes = [math.floor(x.shape[a] * s) for a, s in zip(axes, factors, strict=True)]
    where = call.text("coordinate_transformation_mode", "half_pixel")
    shape = list(x.shape)
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis] = size
    call.claim(shape)
    if where == "tf_crop_and_resize":
        return _cropped(call, x, axes, sizes, call.known(roi, "region").reshape(2, -1))
    return _resize(call, x, axes, sizes, factors, where, call.text("nearest_mode", "round_prefer_floor"))


def _by_size(call: Call, x: Any, axes: list[int], wanted: list[int]) -> tuple[list[int], list[float]]:
    factors = [w / x.shape[a] for a, w in zip(axes, wanted, strict=True)]
    policy = call.text("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        factor = (min if policy == "not_larger" else max)(factors)
        factors = [factor] * len(axes)
        wanted = [math.floor(x.shape[a] * factor + 0.5) for a in axes]
    return wanted, factors


def _resize(
    call: Call, x: Any, axes: list[int], sizes: Sequence[int], factors: list[float], where: str, rounding: str
) -> Any:
    y = jnp.asarray(x)
    for axis, size, factor in zip(axes, sizes, factors, strict=True):
        if size == x.shape[axis] and factor == 1.0:
            continue
        call.scratch(int(size))
        y = _along(call, y, axis, _coordinates(where, int(size), int(x.shape[axis]), factor), factor, rounding)
    return y


def _along(call: Call, y: Any, axis: int, at: np.ndarray, factor: float, rounding: str) -> Any:
    """``y`` read at the positions ``at`` of one axis: one gather, or one product with a matrix of weights."""
    mode, original = call.text("mode", "nearest"), int(y.shape[axis])
    if mode == "nearest":
        return jnp.take(y, _nearest(at, rounding, original), axis=axis)
    call.scratch(len(at) * original)
    matrix = _weights(call, at, original, factor, cubic=mode == "cubic")
    return jnp.moveaxis(jnp.tensordot(y, jnp.asarray(matrix.T, y.dtype), ([axis], [0])), -1, axis)


def _cropped(call: Call, x: Any, axes: list[int], sizes: Sequence[int], region: np.ndarray) -> Any:
    """The part of ``x`` between start and end of each axis (as shares of it); outside lies a fixed value."""
    y = jnp.asarray(x)
    for axis, size, start, end in zip(axes, sizes, *region, strict=True):
        last = int(x.shape[axis]) - 1
        steps = np.arange(call.scratch(int(size)), dtype=np.float64)
        at = (start + (end - start) * (steps / (size - 1) if size > 1 else steps + 0.5)) * last
        y = _along(call, y, axis, np.clip(at, 0, last), 1.0, call.text("nearest_mode", "round_prefer_floor"))
        outside = ((at < 0) | (at > last)).reshape([-1 if d == axis else 1 for d in range(y.ndim)])
        y = jnp.where(outside, jnp.asarray(call.attr("extrapolation_value", 0.0), y.dtype), y)
    return y


def _coordinates(where: str, size: int, original: int, factor: float) -> np.ndarray:
    """Position in the original of each element of the result (ONNX, Resize, coordinate_transformation_mode)."""
    i = np.arange(size, dtype=np.float64)
    if where == "asymmetric":
        return i / factor
    if where == "align_corners":
        last = factor * original - 1
        return i * (original - 1) / last if last > 0 else np.zeros(size)
    if where == "pytorch_half_pixel" and size <= 1:
        return np.zeros(size)
    if where == "half_pixel_symmetric":
        adjust = size / (factor * original)
        return original / 2 * (1 - adjust) + (i + 0.5) / factor - 0.5
    return (i + 0.5) / factor - 0.5


def _nearest(at: np.ndarray, rounding: str, original: int) -> np.ndarray:
    rules: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "floor": np.floor,
        "ceil": np.ceil,
        "round_prefer_ceil": lambda v: np.floor(v + 0.5),
        "round_prefer_floor": lambda v: np.ceil(v - 0.5),
    }
    return np.clip(rules[rounding](at), 0, original - 1).astype(np.int32)


def _weights(call: Call, at: np.ndarray, original: int, factor: float, *, cubic: bool) -> np.ndarray:
    """Matrix [size, original] of an axis; with antialias the kernel is stretched when shrinking."""
    stretch = min(1.0, factor) if call.attr("antialias", 0) else 1.0
    reach = 2 if cubic else 1
    span = math.ceil(reach / stretch)
    matrix = np.zeros((len(at), original))
    base = np.floor(at).astype(np.int64)
    offsets = np.arange(-span + 1, span + 1)
    taps = base[:, None] + offsets
    distance = (at[:, None] - taps) * stretch
    weight = _cubic(distance, call.attr("cubic_coeff_a", -0.75)) if cubic else np.maximum(0, 1 - np.abs(distance))
    if call.attr("exclude_outside", 0):
        weight = np.where((taps >= 0) & (taps < original), weight, 0)
    total = weight.sum(1, keepdims=True)
    weight = weight / np.where(total == 0, 1, total)
    np.add.at(matrix, (np.arange(len(at))[:, None], np.clip(taps, 0, original - 1)), weight)
    return matrix


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))
