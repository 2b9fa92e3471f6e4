"""Windows over [N, C, ...]: max, average, Lp and global pooling, and local response normalisation across channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.padding import Pads, spatial, window_pads
from simulator.frontends.onnx.registry import op


class _Window:
    """Geometry of one pooling node, with padding stretched when sizes are rounded up."""

    def __init__(self, call: Call, x: Any) -> None:
        self.rank = x.ndim - 2
        self.kernel = spatial(call, "kernel_shape", self.rank)
        self.strides = spatial(call, "strides", self.rank)
        self.dilations = spatial(call, "dilations", self.rank)
        self.pads: Pads = window_pads(call, x.shape[2:], self.kernel, self.strides, self.dilations)
        self.declared = list(self.pads)
        if call.attr("ceil_mode", 0):
            self.pads = [self._ceil(i, int(n)) for i, n in enumerate(x.shape[2:])]

    def _ceil(self, axis: int, size: int) -> tuple[int, int]:
        before, after = self.pads[axis]
        stride, reach = self.strides[axis], (self.kernel[axis] - 1) * self.dilations[axis] + 1
        out = -(-(size + before + after - reach) // stride) + 1
        if (out - 1) * stride >= size + before:  # a window may not start in the padding at the end
            out -= 1
        return before, max(after, (out - 1) * stride + reach - size - before)

    def reduce(self, x: Any, start: Any, function: Any, pads: Sequence[tuple[int, int]] | None = None) -> Any:
        ones = (1, 1)
        return jax.lax.reduce_window(
            x, start, function, (*ones, *self.kernel), (*ones, *self.strides),
            ((0, 0), (0, 0), *(self.pads if pads is None else pads)), window_dilation=(*ones, *self.dilations),
        )  # fmt: skip


@op("MaxPool")
def max_pool(call: Call, x: Any) -> Any:
    window = _Window(call, x)
    least: Any = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    y = window.reduce(x, np.asarray(least, x.dtype)[()], jax.lax.max)
    if len(call.node.outputs) < 2:
        return y
    return y, _positions(call, x, y, window)


def _positions(call: Call, x: Any, y: Any, window: _Window) -> Any:
    """Flat position of each maximum, the first where several are equal."""
    field, row_major = x.shape[2:], call.attr("storage_order", 0) == 0
    axes = range(window.rank) if row_major else reversed(range(window.rank))
    index, step = jnp.zeros(x.shape, jnp.int32), 1
    for axis in reversed(list(axes)):
        index = index + step * jax.lax.broadcasted_iota(jnp.int32, x.shape, axis + 2)
        step *= field[axis]
    index = index + step * jax.lax.broadcasted_iota(jnp.int32, x.shape, 1)
    index = index + step * x.shape[1] * jax.lax.broadcasted_iota(jnp.int32, x.shape, 0)
    start = (jnp.asarray(-jnp.inf, x.dtype), jnp.int32(np.iinfo(np.int32).max))

    def larger(a: Any, b: Any) -> Any:
        take = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
        return jnp.where(take, a[0], b[0]), jnp.where(take, a[1], b[1])

    return window.reduce((x, index), start, larger)[1]


@op("AveragePool")
def average_pool(call: Call, x: Any) -> Any:
    window = _Window(call, x)
    total = window.reduce(x, np.asarray(0, x.dtype)[()], jax.lax.add)
    for axis in range(window.rank):
        shape = [1] * axis + [-1] + [1] * (window.rank - 1 - axis)
        total = total / jnp.asarray(_counts(call, int(x.shape[axis + 2]), axis, window), x.dtype).reshape(shape)
    return total


def _counts(call: Call, size: int, axis: int, window: _Window) -> np.ndarray:
    """Elements that each window along an axis really covers; declared padding counts if the node says so."""
    before, after = window.declared[axis]
    include = bool(call.attr("count_include_pad", 0))
    padded = size + sum(window.pads[axis])
    reach = (window.kernel[axis] - 1) * window.dilations[axis] + 1
    starts = np.arange(0, call.scratch(padded) - reach + 1, window.strides[axis])
    taps = np.arange(0, reach, window.dilations[axis])
    call.scratch(len(starts) * len(taps))
    at = starts[:, None] + taps
    low, high = (0, before + size + after) if include else (before, before + size)
    return ((at >= low) & (at < high)).sum(1)


@op("LpPool")
def lp_pool(call: Call, x: Any) -> Any:
    p = call.attr("p", 2)
    total = _Window(call, x).reduce(jnp.power(jnp.abs(x), p), np.asarray(0, x.dtype)[()], jax.lax.add)
    return jnp.power(total, 1.0 / p).astype(x.dtype)


def _fields(x: Any) -> tuple[int, ...]:
    return tuple(range(2, x.ndim))


@op("GlobalAveragePool")
def global_average_pool(call: Call, x: Any) -> Any:
    return jnp.mean(x, _fields(x), keepdims=True)


@op("GlobalMaxPool")
def global_max_pool(call: Call, x: Any) -> Any:
    return jnp.max(x, _fields(x), keepdims=True)


@op("GlobalLpPool")
def global_lp_pool(call: Call, x: Any) -> Any:
    p = call.attr("p", 2)
    return jnp.power(jnp.sum(jnp.power(jnp.abs(x), p), _fields(x), keepdims=True), 1.0 / p).astype(x.dtype)


@op("LRN")
def local_response_norm(call: Call, x: Any) -> Any:
    size = call.required("size")
    alpha, beta, bias = call.attr("alpha", 1e-4), call.attr("beta", 0.75), call.attr("bias", 1.0)
    before = (size - 1) // 2
    pads = [(0, 0), (before, size - 1 - before)] + [(0, 0)] * (x.ndim - 2)
    window = (1, size) + (1,) * (x.ndim - 2)
    squares = jax.lax.reduce_window(x * x, np.asarray(0, x.dtype)[()], jax.lax.add, window, (1,) * x.ndim, pads)
    return x / jnp.power(bias + (alpha / size) * squares, beta).astype(x.dtype)
