"""Explicit and automatic padding of windows, shared by convolution and pooling."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.frontends.onnx.call import Call

Pads = list[tuple[int, int]]


def spatial(call: Call, name: str, rank: int) -> list[int]:
    """An attribute of one positive integer a spatial dimension; ones when absent."""
    values = [int(v) for v in call.attr(name) or [1] * rank]
    if len(values) != rank or min(values, default=1) < 1:
        raise call.invalid(f"has {name} {values[:8]} for {rank} spatial dimensions")
    return values


def window_pads(
    call: Call, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> Pads:
    """(before, after) of each spatial dimension, from ``pads`` or ``auto_pad``."""
    mode = call.text("auto_pad", "NOTSET")
    rank = len(sizes)
    if mode in ("NOTSET", ""):
        flat = [int(v) for v in call.attr("pads") or [0] * (2 * rank)]
        if len(flat) != 2 * rank or min(flat, default=0) < 0:
            raise call.invalid(f"has pads {flat[:8]} for {rank} spatial dimensions")
        return list(zip(flat[:rank], flat[rank:], strict=True))
    if mode == "VALID":
        return [(0, 0)] * rank
    pads = []
    for size, window, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        reach = (window - 1) * dilation + 1
        total = max(0, (-(-size // stride) - 1) * stride + reach - size)
        small, large = total // 2, total - total // 2
        pads.append((large, small) if mode == "SAME_LOWER" else (small, large))
    return pads
