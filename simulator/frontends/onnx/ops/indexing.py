"""Gathering and scattering by index, one-hot rows. Negative indices count from the end, as ONNX has it."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from onnx import helper

from simulator.frontends.onnx.call import Call, is_known
from simulator.frontends.onnx.registry import op


def _wrapped(indices: Any, size: int) -> Any:
    if is_known(indices):
        return np.where(indices < 0, indices + size, indices)
    return wrapped_index(indices, size)


@partial(jax.jit, static_argnums=1)
def wrapped_index(indices: Any, size: int) -> Any:
    """Negative indices counted from the end. The trace meets this name and takes it for free, as on an IPU, which
    reads indices as they are."""
    return jnp.where(indices < 0, indices + size, indices)


@op("Gather")
def gather(call: Call, x: Any, indices: Any) -> Any:
    axis = call.attr("axis", 0) % max(1, x.ndim)
    shape = call.claim([*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])
    if call.space(shape, x, indices) is np:
        return np.take(x, indices, axis)
    if (
        is_known(indices)
        and np.size(indices)
        and not -x.shape[axis] <= np.min(indices) <= np.max(indices) < x.shape[axis]
    ):
        raise call.invalid(f"reads indices outside 0 to {x.shape[axis] - 1}")
    return jnp.take(x, _wrapped(indices, x.shape[axis]), axis=axis, mode="clip")


@op("GatherElements")
def gather_elements(call: Call, x: Any, indices: Any) -> Any:
    axis = call.attr("axis", 0) % x.ndim
    index = _wrapped(indices, x.shape[axis])
    if is_known(x, indices):
        return np.take_along_axis(x, index, axis)
    cut = tuple(slice(0, n) if d != axis else slice(None) for d, n in enumerate(indices.shape))
    index = jnp.asarray(index)
    return jnp.take_along_axis(jnp.asarray(x)[cut], index, axis, mode="clip", wrap_negative_indices=False)


@op("GatherND")
def gather_nd(call: Call, x: Any, indices: Any) -> Any:
    batch = call.attr("batch_dims", 0)

    def one(table: Any, index: Any) -> Any:
        return table[tuple(jnp.moveaxis(index, -1, 0))]

    function = one
    for _ in range(batch):
        function = jax.vmap(function)
    return function(jnp.asarray(x), jnp.asarray(indices))


def _update(x: Any, index: list[Any], values: Any, how: str) -> Any:
    names = {"none": "set", "add": "add", "mul": "multiply", "max": "max", "min": "min"}
    return getattr(jnp.asarray(x).at[tuple(index)], names[how])(values, wrap_negative_indices=False)


@op("ScatterElements", "Scatter")
def scatter_elements(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    axis = call.attr("axis", 0) % x.ndim
    index = list(jnp.indices(indices.shape, sparse=True))
    index[axis] = jnp.asarray(_wrapped(indices, x.shape[axis]))
    return _update(x, index, updates, call.text("reduction", "none"))


@op("ScatterND")
def scatter_nd(call: Call, x: Any, indices: Any, updates: Any) -> Any:
    index = [
        _wrapped(part, size) for part, size in zip(jnp.moveaxis(jnp.asarray(indices), -1, 0), x.shape, strict=False)
    ]
    return _update(x, index, updates, call.text("reduction", "none"))


@op("OneHot", static=(1,))
def one_hot(call: Call, indices: Any, depth: Any, values: Any) -> Any:
    count = call.integers(depth, "depth")[0]
    axis = call.attr("axis", -1)
    call.claim([*indices.shape, count])
    index = _wrapped(jnp.asarray(indices).astype(jnp.int32), count)
    hot = jax.nn.one_hot(index, count, dtype=jnp.bool_, axis=axis)
    return jnp.where(hot, values[1], values[0])


@op("Compress", static=(1,))
def compress(call: Call, x: Any, condition: Any) -> Any:
    kept = np.flatnonzero(call.known(condition, "condition"))
    axis = call.attr("axis")
    if axis is None:
        return jnp.take(jnp.asarray(x).reshape(-1), kept)
    return jnp.take(x, kept, axis=axis)


@op("NonZero", static=(0,))
def non_zero(call: Call, x: Any) -> Any:
    return np.stack(np.nonzero(call.known(x, "input"))).astype(np.int64)


@op("EyeLike")
def eye_like(call: Call, x: Any) -> Any:
    code = call.attr("dtype")
    dtype = x.dtype if code is None else helper.tensor_dtype_to_np_dtype(code)
    call.claim(x.shape)
    return jnp.eye(x.shape[0], x.shape[1], call.attr("k", 0), dtype=jax.dtypes.canonicalize_dtype(dtype))
