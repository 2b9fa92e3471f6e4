"""Convolution and its transpose, in the layout of ONNX: [N, C, ...] and [out, in / group, ...]."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites import float8
from simulator.composites.host_convolution import grouped_convolution
from simulator.composites.norms import per_channel
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.padding import spatial, window_pads
from simulator.frontends.onnx.registry import op


@op("Conv")
def conv(call: Call, x: Any, w: Any, bias: Any = None) -> Any:
    y = convolve(call, jnp.asarray(x), jnp.asarray(w))
    return y if bias is None else y + per_channel(bias, y.ndim)


def convolve(call: Call, x: Any, w: Any) -> Any:
    """Convolution by the attributes of the node, without its bias."""
    rank = x.ndim - 2
    if rank < 1 or w.ndim != x.ndim:
        raise call.invalid(f"has input of shape {list(x.shape)} and weights of shape {list(w.shape)}")
    groups = _groups(call, x, w.shape[1], w.shape[0])
    strides, dilations = spatial(call, "strides", rank), spatial(call, "dilations", rank)
    pads = window_pads(call, x.shape[2:], w.shape[2:], strides, dilations)
    if call.context.mode.on_host and groups > 1 and w.shape[1] > 1:
        return grouped_convolution(x, w, groups, tuple(strides), tuple(pads), tuple(dilations))
    narrow = float8.is_stored(w)
    y = jax.lax.conv_general_dilated(
        float8.narrowed(x) if narrow else x, w, strides, pads, rhs_dilation=dilations, feature_group_count=groups,
        dimension_numbers=_numbers(rank), preferred_element_type=x.dtype if narrow else None,
    )  # fmt: skip
    return float8.rescaled(y) if narrow else y


def _groups(call: Call, x: Any, per_group: int, out_channels: int) -> int:
    groups = int(call.attr("group", 1))
    if groups < 1:
        raise call.invalid(f"has group {groups}; it must be 1 or more")
    if per_group * groups != x.shape[1] or out_channels % groups:
        raise call.invalid(
            f"has {x.shape[1]} input channels in {groups} groups, but its weights are for {per_group} a group"
        )
    return groups


def _numbers(rank: int) -> Any:
    axes = tuple(range(rank + 2))
    return jax.lax.ConvDimensionNumbers(axes, axes, axes)


@op("ConvTranspose")
def conv_transpose(call: Call, x: Any, w: Any, bias: Any = None) -> Any:
    x, w = jnp.asarray(x), jnp.asarray(w)
    rank = x.ndim - 2
    groups = _groups(call, x, w.shape[0] // max(1, int(call.attr("group", 1))), w.shape[1] * int(call.attr("group", 1)))
    strides, dilations = spatial(call, "strides", rank), spatial(call, "dilations", rank)
    # [in, out / group, ...] to [out, in / group, ...], turned around
    kernel = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)
    kernel = kernel.reshape(-1, w.shape[0] // groups, *w.shape[2:])
    kernel = jnp.flip(kernel, tuple(range(2, rank + 2)))
    pads = _transposed_pads(call, x.shape[2:], w.shape[2:], strides, dilations)
    y = jax.lax.conv_general_dilated(
        x, kernel, [1] * rank, pads, lhs_dilation=strides, rhs_dilation=dilations, feature_group_count=groups,
        dimension_numbers=_numbers(rank),
    )  # fmt: skip
    return y if bias is None else y + per_channel(bias, y.ndim)


def _transposed_pads(call: Call, sizes: Any, kernel: Any, strides: list[int], dilations: list[int]) -> Any:
    """Padding of the equivalent forward convolution over the dilated input."""
    rank = len(strides)
    extra = [int(v) for v in call.attr("output_padding") or [0] * rank]
    mode, wanted = call.text("auto_pad", "NOTSET"), call.attr("output_shape")
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    if wanted is None and mode in ("NOTSET", "VALID", ""):
        flat = [int(v) for v in call.attr("pads") or [0] * (2 * rank)]
        cut = list(zip(flat[:rank], flat[rank:], strict=True))
    else:
        target = list(wanted)[-rank:] if wanted is not None else [n * s for n, s in zip(sizes, strides, strict=True)]
        cut = []
        for n, s, r, e, t in zip(sizes, strides, reach, extra, target, strict=True):
            total = s * (n - 1) + e + r - int(t)
            small, large = total // 2, total - total // 2
            if total < 0:  # a larger result than the windows reach: zeros at the end
                small, large = 0, total
            cut.append((small, large) if mode == "SAME_UPPER" or total < 0 else (large, small))
    return [(r - 1 - a, r - 1 - b + e) for r, (a, b), e in zip(reach, cut, extra, strict=True)]


@op("ConvInteger", untrained=(2, 3))
def conv_integer(call: Call, x: Any, w: Any, x_zero: Any = None, w_zero: Any = None) -> Any:
    wide_x, wide_w = jnp.asarray(x).astype(jnp.int32), jnp.asarray(w).astype(jnp.int32)
    if x_zero is not None:
        wide_x = wide_x - jnp.asarray(x_zero).astype(jnp.int32)
    if w_zero is not None:
        zero = jnp.asarray(w_zero).astype(jnp.int32)
        wide_w = wide_w - zero.reshape((-1,) + (1,) * (wide_w.ndim - 1))
    return convolve(call, wide_x, wide_w)
