"""Reductions over axes, arg-max, cumulative sums, top-k and sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call, xp
from simulator.frontends.onnx.ops.arithmetic import keep_type
from simulator.frontends.onnx.registry import op

Axes = tuple[int, ...]


def axes_of(call: Call, x: Any, axes: Any) -> Axes | None:
    """Axes from the input or the attribute: None means all, an empty tuple none."""
    listed = call.attr("axes") if axes is None else call.integers(axes, "axes")
    if not listed:
        return () if call.attr("noop_with_empty_axes", 0) else None
    return tuple(int(a) % x.ndim for a in listed)


def _reduction(function: Callable[[Any, Any, Axes | None, bool], Any]) -> Callable[..., Any]:
    def run(call: Call, x: Any, axes: Any = None) -> Any:
        over = axes_of(call, x, axes)
        result = function(xp(x), x, over, bool(call.attr("keepdims", 1)))
        return result.astype(x.dtype) if isinstance(x, np.ndarray) else result

    return run


def _named(name: str) -> Callable[[Any, Any, Axes | None, bool], Any]:
    return lambda space, x, axes, keep: getattr(space, name)(x, axis=axes, keepdims=keep)


def _after(space: Any, name: str, value: Any, axes: Axes | None, keep: bool) -> Any:
    return getattr(space, name)(value, axis=axes, keepdims=keep)


def _extreme(name: str, empty: float) -> Callable[[Any, Any, Axes | None, bool], Any]:
    """Of no element at all: the value that any other would replace."""

    def function(space: Any, x: Any, axes: Axes | None, keep: bool) -> Any:
        if x.dtype == np.bool_:
            return getattr(space, "any" if name == "max" else "all")(x, axis=axes, keepdims=keep)
        floating = jnp.issubdtype(x.dtype, jnp.floating)
        initial = empty if floating else getattr(jnp.iinfo(x.dtype), "min" if name == "max" else "max")
        return getattr(space, name)(x, axis=axes, keepdims=keep, initial=None if x.size else initial)

    return function


op("ReduceMax", static=(1,))(_reduction(_extreme("max", -np.inf)))
op("ReduceMin", static=(1,))(_reduction(_extreme("min", np.inf)))
for _operator, _name in {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceProd": "prod"}.items():
    op(_operator, static=(1,))(_reduction(_named(_name)))

op("ReduceL1", static=(1,))(_reduction(lambda s, x, a, k: _after(s, "sum", s.abs(x), a, k)))
op("ReduceL2", static=(1,))(_reduction(lambda s, x, a, k: s.sqrt(_after(s, "sum", x * x, a, k))))
op("ReduceSumSquare", static=(1,))(_reduction(lambda s, x, a, k: _after(s, "sum", x * x, a, k)))
op("ReduceLogSum", static=(1,))(_reduction(lambda s, x, a, k: s.log(_after(s, "sum", x, a, k))))


@op("ReduceLogSumExp", static=(1,))
def reduce_log_sum_exp(call: Call, x: Any, axes: Any = None) -> Any:
    over = axes_of(call, x, axes)
    if over == ():
        return x
    return jax.nn.logsumexp(jnp.asarray(x), over, keepdims=bool(call.attr("keepdims", 1)))


def _arg(name: str) -> Callable[..., Any]:
    def run(call: Call, x: Any) -> Any:
        axis, keep = call.attr("axis", 0), bool(call.attr("keepdims", 1))
        space = xp(x)
        if not call.attr("select_last_index", 0):
            return getattr(space, name)(x, axis=axis, keepdims=keep)
        turned = getattr(space, name)(space.flip(x, axis), axis=axis, keepdims=keep)
        return x.shape[axis] - 1 - turned

    return run


op("ArgMax")(_arg("argmax"))
op("ArgMin")(_arg("argmin"))


def _running(function: Callable[..., Any], start: int) -> Callable[..., Any]:
    """``start`` is what an exclusive run begins with."""

    def run(call: Call, x: Any, axis: Any) -> Any:
        along = call.integers(axis, "axis")[0] % x.ndim
        x = jnp.asarray(x)
        if call.attr("reverse", 0):
            x = jnp.flip(x, along)
        if call.attr("exclusive", 0):
            first = jnp.full_like(jax.lax.slice_in_dim(x, 0, 1, axis=along), start)
            x = jnp.concatenate([first, jax.lax.slice_in_dim(x, 0, x.shape[along] - 1, axis=along)], along)
        result = function(x, along)
        return jnp.flip(result, along) if call.attr("reverse", 0) else result

    return run


op("CumSum", static=(1,))(_running(jax.lax.cumsum, 0))
op("CumProd", static=(1,))(_running(jax.lax.cumprod, 1))


@op("TopK", static=(1,))
def top_k(call: Call, x: Any, k: Any = None) -> Any:
    count = int(call.attr("k") if k is None else call.integers(k, "k")[0])
    axis = call.attr("axis", -1) % x.ndim
    if count > x.shape[axis]:
        raise call.invalid(f"asks for the {count} largest of {x.shape[axis]}")
    moved = jnp.moveaxis(jnp.asarray(x), axis, -1)
    if call.attr("largest", 1) and jnp.issubdtype(moved.dtype, jnp.floating):
        largest, order = jax.lax.top_k(moved, count)
        return jnp.moveaxis(largest, -1, axis), jnp.moveaxis(order, -1, axis)
    order = jnp.argsort(moved, axis=-1, stable=True, descending=bool(call.attr("largest", 1)))[..., :count]
    values = jnp.take_along_axis(moved, order, axis=-1)
    return jnp.moveaxis(values, -1, axis), jnp.moveaxis(order, -1, axis)


@op("Trilu", static=(1,))
def triangle(call: Call, x: Any, k: Any = None) -> Any:
    offset = 0 if k is None else call.integers(k, "diagonal")[0]
    offset = max(-(2**30), min(2**30, offset))
    space = xp(x)
    return keep_type((space.triu if call.attr("upper", 1) else space.tril)(x, offset), x)
