"""Operators that only move or repeat elements: joining, cutting, padding, repeating, and depth to space."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call, xp
from simulator.frontends.onnx.registry import op


@op("Concat")
def concat(call: Call, *values: Any) -> Any:
    axis = call.attr("axis", 1)
    shape = call.claim(_joined(values, axis))
    return call.space(shape, *values).concatenate([v for v in values if 0 not in v.shape] or values[:1], axis)


def _joined(values: tuple[Any, ...], axis: int) -> list[int]:
    sizes = list(values[0].shape)
    sizes[axis] = sum(v.shape[axis] for v in values)
    return sizes


@op("Split", static=(1,))
def split(call: Call, x: Any, sizes: Any = None) -> Any:
    axis = call.attr("axis", 0)
    listed = call.attr("split") if sizes is None else call.integers(sizes, "sizes")
    parts = call.attr("num_outputs", len(call.node.outputs))
    if listed is None:
        if not 0 < parts <= call.context.limits.ports:
            raise call.invalid(f"splits into {parts} parts")
        each = -(-x.shape[axis] // parts)
        listed = [max(0, min(each, x.shape[axis] - each * i)) for i in range(parts)]
    if sum(int(s) for s in listed) != x.shape[axis] or min(listed, default=0) < 0:
        raise call.invalid(f"splits {x.shape[axis]} into {[int(s) for s in listed][:8]}")
    ends = np.cumsum([int(s) for s in listed])[:-1]
    return tuple(xp(x).split(x, [int(e) for e in ends], axis))


@op("Slice", static=(1, 2, 3, 4))
def slice_(call: Call, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Any:
    first = call.attr("starts") if starts is None else call.integers(starts, "starts")
    last = call.attr("ends") if ends is None else call.integers(ends, "ends")
    over = call.attr("axes") if axes is None else call.integers(axes, "axes")
    stride = [1] * len(first) if steps is None else call.integers(steps, "steps")
    cuts = [slice(None)] * x.ndim
    for start, end, axis, step in zip(first, last, over or range(len(first)), stride, strict=True):
        cuts[axis] = _cut(int(start), int(end), int(step), int(x.shape[axis]))
    return x[tuple(cuts)]


def _cut(start: int, end: int, step: int, size: int) -> slice:
    """ONNX clamps where Python would count from the end once more."""
    start = start + size if start < 0 else start
    end = end + size if end < 0 else end
    if step > 0:
        return slice(min(max(start, 0), size), min(max(end, 0), size), step)
    stop = min(max(end, -1), size - 1)
    return slice(min(max(start, 0), size - 1), None if stop < 0 else stop, step)


@op("Pad", static=(1, 2, 3))
def pad(call: Call, x: Any, pads: Any = None, value: Any = None, axes: Any = None) -> Any:
    flat = call.attr("pads", call.attr("paddings")) if pads is None else call.integers(pads, "pads")
    fill = call.attr("value", 0.0) if value is None else call.known(value, "fill value").reshape(-1)[0]
    over = range(x.ndim) if axes is None else [a % x.ndim for a in call.integers(axes, "axes")]
    half = len(flat) // 2
    before, after = [0] * x.ndim, [0] * x.ndim
    for position, axis in enumerate(over):
        before[axis], after[axis] = int(flat[position]), int(flat[half + position])
    cuts = tuple(slice(max(0, -b), n - max(0, -a)) for b, a, n in zip(before, after, x.shape, strict=True))
    widths = [(max(0, b), max(0, a)) for b, a in zip(before, after, strict=True)]
    shape = call.claim([n + b + a for n, b, a in zip(x.shape, before, after, strict=True)])
    mode = call.text("mode", "constant")
    space = call.space(shape, x)
    if mode == "constant":
        return space.pad(x[cuts], widths, constant_values=np.asarray(fill, x.dtype)[()])
    return space.pad(x[cuts], widths, mode=mode)


@op("Expand", static=(1,))
def expand(call: Call, x: Any, target: Any) -> Any:
    wanted = call.claim(np.broadcast_shapes(x.shape, tuple(call.integers(target, "target shape"))))
    return call.space(wanted, x).broadcast_to(x, wanted)


@op("Tile", static=(1,))
def tile(call: Call, x: Any, repeats: Any) -> Any:
    times = call.integers(repeats, "repeats")
    shape = call.claim([n * t for n, t in zip(x.shape, times, strict=True)])
    return call.space(shape, x).tile(x, tuple(times))


@op("DepthToSpace")
def depth_to_space(call: Call, x: Any) -> Any:
    n, channels, height, width = x.shape
    block = call.required("blocksize")
    depth = channels // (block * block)
    if call.text("mode", "DCR") == "DCR":
        y = x.reshape(n, block, block, depth, height, width).transpose(0, 3, 4, 1, 5, 2)
    else:
        y = x.reshape(n, depth, block, block, height, width).transpose(0, 1, 4, 2, 5, 3)
    return y.reshape(n, depth, height * block, width * block)


@op("SpaceToDepth")
def space_to_depth(call: Call, x: Any) -> Any:
    n, channels, height, width = x.shape
    block = call.required("blocksize")
    y = x.reshape(n, channels, height // block, block, width // block, block)
    depth_first = call.text("mode", "DCR") == "DCR"
    y = y.transpose((0, 3, 5, 1, 2, 4) if depth_first else (0, 1, 3, 5, 2, 4))
    return y.reshape(n, channels * block * block, height // block, width // block)


@op("ReverseSequence")
def reverse_sequence(call: Call, x: Any, lengths: Any) -> Any:
    time, batch = call.attr("time_axis", 0), call.attr("batch_axis", 1)
    moved = jnp.moveaxis(jnp.asarray(x), (batch, time), (0, 1))
    steps = jnp.arange(moved.shape[1])[None, :]
    ends = jnp.asarray(lengths).astype(jnp.int32)[:, None]
    order = jnp.where(steps < ends, ends - 1 - steps, steps)
    order = order.reshape(order.shape + (1,) * (moved.ndim - 2))
    return jnp.moveaxis(jnp.take_along_axis(moved, order, 1), (0, 1), (batch, time))
