"""Shape, Size and everything that only renames axes: these stay known when their input is known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from simulator.frontends.onnx.call import Call, xp
from simulator.frontends.onnx.registry import op


@op("Shape")
def shape(call: Call, x: Any) -> Any:
    start, end = call.attr("start", 0), call.attr("end")
    return np.array(x.shape[start:end], np.int64)


@op("Size")
def size(call: Call, x: Any) -> Any:
    return np.asarray(math.prod(x.shape), np.int64)


@op("Identity")
def identity(call: Call, x: Any) -> Any:
    return x


@op("Reshape", static=(1,))
def reshape(call: Call, x: Any, target: Any = None) -> Any:
    wanted = [int(v) for v in call.attr("shape")] if target is None else call.integers(target, "target shape")
    zero_copies = not call.attr("allowzero", 0)
    sizes = [int(x.shape[i]) if s == 0 and zero_copies else s for i, s in enumerate(wanted)]
    return x.reshape(_fitted(call, int(math.prod(x.shape)), sizes))


def _fitted(call: Call, elements: int, sizes: list[int]) -> tuple[int, ...]:
    """``sizes`` with -1 resolved; a leading size that is the exported batch follows the batch of this run."""
    batches = call.context.rebatched
    if batches is not None and sizes and sizes[0] == batches[0]:
        rest = math.prod(s for s in sizes if s >= 0)
        if (-1 not in sizes and rest != elements) or (-1 in sizes and len(sizes) > 1):
            sizes = [batches[1], *sizes[1:]]
    if sizes.count(-1) > 1 or any(s < -1 for s in sizes):
        raise call.invalid(f"reshapes to {sizes[:8]}")
    if -1 in sizes:
        rest = math.prod(s for s in sizes if s >= 0)
        missing = elements // rest if rest else 0
        sizes = [missing if s == -1 else s for s in sizes]
    if math.prod(sizes) != elements:
        raise call.invalid(f"reshapes {elements} elements to {sizes[:8]}")
    return tuple(sizes)


@op("Flatten")
def flatten(call: Call, x: Any) -> Any:
    axis = call.attr("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))


def _axes(call: Call, axes: Any) -> list[int] | None:
    if axes is not None:
        return call.integers(axes, "axes")
    return None if call.attr("axes") is None else [int(a) for a in call.attr("axes")]


@op("Squeeze", static=(1,))
def squeeze(call: Call, x: Any, axes: Any = None) -> Any:
    listed = _axes(call, axes)
    return xp(x).squeeze(x, axis=None if listed is None else tuple(listed))


@op("Unsqueeze", static=(1,))
def unsqueeze(call: Call, x: Any, axes: Any = None) -> Any:
    listed = _axes(call, axes) or []
    return xp(x).expand_dims(x, tuple(listed))


@op("Transpose")
def transpose(call: Call, x: Any) -> Any:
    order = call.attr("perm")
    return xp(x).transpose(x, None if order is None else tuple(int(a) for a in order))
