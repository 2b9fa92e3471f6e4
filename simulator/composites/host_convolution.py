"""Grouped convolution for a CPU: the same numbers, with a weight gradient that XLA's own form takes seconds for.

Only runs use it; what is costed is the convolution itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

Pads = tuple[tuple[int, int], ...]


@partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4, 5))
def grouped_convolution(
    x: Any, w: Any, groups: int, strides: tuple[int, ...], pads: Pads, dilations: tuple[int, ...]
) -> Any:
    """``x`` [N, C, ...] with ``w`` [out, C / groups, ...]: [N, out, ...]."""
    axes = tuple(range(x.ndim))
    numbers = jax.lax.ConvDimensionNumbers(axes, axes, axes)
    return jax.lax.conv_general_dilated(
        x, w, strides, pads, rhs_dilation=dilations, feature_group_count=groups, dimension_numbers=numbers
    )


def _saving(x: Any, w: Any, *settings: Any) -> tuple[Any, tuple[Any, Any]]:
    return grouped_convolution(x, w, *settings), (x, w)


def _slopes(
    groups: int, strides: tuple[int, ...], pads: Pads, dilations: tuple[int, ...], saved: tuple[Any, Any], g: Any
) -> tuple[Any, Any]:
    x, w = saved
    back = jax.linear_transpose(lambda v: grouped_convolution.fun(v, w, groups, strides, pads, dilations), x)
    return back(g)[0], _weight_slope(x, w.shape, g, groups, strides, pads, dilations)


def _weight_slope(
    x: Any, shape: Sequence[int], g: Any, groups: int, strides: Sequence[int], pads: Pads, dilations: Sequence[int]
) -> Any:
    """One product a tap of the kernel, of all groups at once."""
    padded = jnp.pad(x, ((0, 0), (0, 0), *pads))
    parts = padded.reshape(x.shape[0], groups, shape[1], *padded.shape[2:])
    slopes = g.reshape(g.shape[0], groups, shape[0] // groups, -1)
    taps = []
    for place in itertools.product(*(range(k) for k in shape[2:])):
        cut = tuple(
            slice(p * d, p * d + s * (n - 1) + 1, s)
            for p, d, s, n in zip(place, dilations, strides, g.shape[2:], strict=True)
        )
        seen = parts[(slice(None), slice(None), slice(None), *cut)].reshape(*parts.shape[:3], -1)
        taps.append(jnp.einsum("ngop,ngcp->goc", slopes, seen))
    return jnp.stack(taps, -1).reshape(shape)


grouped_convolution.defvjp(_saving, _slopes)
