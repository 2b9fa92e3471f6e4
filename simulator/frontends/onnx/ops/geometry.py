"""Reading a field at computed places: sampling grids, regions of interest, deformed taps, columns to images."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from simulator.composites.norms import per_channel
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.padding import spatial
from simulator.frontends.onnx.registry import op

CUBIC_A = -0.75  # of GridSample
MOST_TAPS = 4096  # kernel positions that are placed one by one


def read_at(x: Any, places: Sequence[Any]) -> Any:
    """``x`` [N, C, ...] at whole positions, one array [N, ...] an axis, all inside: [N, C, ...]."""
    flat, index = x.reshape(*x.shape[:2], -1), jnp.zeros((), jnp.int32)
    for size, place in zip(x.shape[2:], places, strict=True):
        index = index * size + place.astype(jnp.int32)
    rows = index.reshape(index.shape[0], 1, -1)
    found = jnp.take_along_axis(flat, rows, 2, mode="clip", wrap_negative_indices=False)
    return found.reshape(*x.shape[:2], *index.shape[1:])


def _taps(at: Any, mode: str) -> list[tuple[Any, Any]]:
    """(position, weight) of each neighbour along one axis."""
    if mode == "nearest":
        return [(jnp.round(at), jnp.ones_like(at))]
    base = jnp.floor(at)
    share = at - base
    if mode in ("linear", "bilinear"):
        return [(base, 1 - share), (base + 1, share)]
    return [(base + i, _cubic(jnp.abs(share - i))) for i in (-1, 0, 1, 2)]


def _cubic(d: Any) -> Any:
    a = CUBIC_A
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    return jnp.where(d <= 1, near, a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a)


def _reflected(at: Any, low: float, high: float) -> Any:
    """Folded back at the borders as often as needed."""
    span = max(high - low, 1e-9)
    turn = jnp.mod(at - low, 2 * span)
    return low + jnp.where(turn > span, 2 * span - turn, turn)


def sample(x: Any, places: Sequence[Any], mode: str, padding: str = "zeros", corners: bool = True) -> Any:
    """``x`` [N, C, ...] between its elements; ``places`` are positions [N, ...], one array an axis."""
    axes = []
    for size, place in zip(x.shape[2:], places, strict=True):
        low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
        at = place
        if padding == "border":
            at = jnp.clip(place, 0, size - 1)
        elif padding == "reflection":
            at = jnp.where((place < low) | (place > high), _reflected(place, low, high), place)
        axes.append([_inside(tap, weight, size, padding, low, high) for tap, weight in _taps(at, mode)])
    total: Any = 0
    for taps in itertools.product(*axes):
        weight = math.prod((w for _, w in taps[1:]), start=taps[0][1])
        total = total + read_at(x, [place for place, _ in taps]) * weight[:, None].astype(x.dtype)
    return total


def _inside(tap: Any, weight: Any, size: int, padding: str, low: float, high: float) -> tuple[Any, Any]:
    if padding == "reflection":
        tap = jnp.trunc(_reflected(tap, low, high))
    elif padding == "zeros":
        weight = jnp.where((tap >= 0) & (tap < size), weight, 0)
    return jnp.clip(tap, 0, size - 1), weight


@op("GridSample")
def grid_sample(call: Call, x: Any, grid: Any) -> Any:
    """``grid`` [N, ..., axes] in -1 to 1, its last axis in the opposite order of the field's."""
    corners, places = bool(call.attr("align_corners", 0)), []
    for i, size in enumerate(x.shape[2:]):
        at = (grid[..., x.ndim - 3 - i] + 1) / 2
        places.append(at * (size - 1) if corners else at * size - 0.5)
    mode = call.text("mode", "linear" if call.opset >= 20 else "bilinear")
    return sample(jnp.asarray(x), places, mode, call.text("padding_mode", "zeros"), corners)


@op("AffineGrid", static=(1,))
def affine_grid(call: Call, theta: Any, size: Any) -> Any:
    """Where each place of a field of ``size`` lies after the transform: [N, ..., axes]."""
    _, _, *field = call.integers(size, "size")
    call.claim([theta.shape[0], *field, len(field)])
    lines = []
    for n in field:
        edge = 1.0 if call.attr("align_corners", 0) else 1.0 - 1.0 / n
        lines.append(np.linspace(-edge, edge, n))
    axes = list(np.meshgrid(*lines, indexing="ij"))[::-1]
    base = jnp.asarray(np.stack([*axes, np.ones(field)], -1), theta.dtype)
    return jnp.einsum("nij,...j->n...i", jnp.asarray(theta), base)


@op("RoiAlign", static=(1,))
def roi_align(call: Call, x: Any, rois: Any, batches: Any) -> Any:
    """Each region [x1, y1, x2, y2] as a field of cells, each the mean or the largest of its samples."""
    rows, columns = call.attr("output_height", 1), call.attr("output_width", 1)
    half = call.opset >= 16 and call.text("coordinate_transformation_mode", "half_pixel") == "half_pixel"
    corners = jnp.asarray(rois) * call.attr("spatial_scale", 1.0) - (0.5 if half else 0.0)
    lines = []
    for axis, cells in ((1, rows), (0, columns)):
        start, reach = corners[:, axis], corners[:, axis + 2] - corners[:, axis]
        lines.append(_cell_samples(call, start, reach if half else jnp.maximum(reach, 1.0), cells))
    (y, y_live), (column, x_live) = lines
    shape = (rois.shape[0], *y.shape[1:], *column.shape[1:])  # [regions, rows, samples, columns, samples]
    places = [jnp.broadcast_to(y[:, :, :, None, None], shape), jnp.broadcast_to(column[:, None, None], shape)]
    live = y_live[:, :, :, None, None] & x_live[:, None, None]
    parts = _corners(jnp.asarray(x)[jnp.asarray(batches)], places)
    if call.text("mode", "avg") == "max":
        largest = jnp.max(jnp.stack(parts), 0)
        return jnp.max(jnp.where(live[:, None], largest, -jnp.inf), (3, 5)).astype(x.dtype)
    count = jnp.maximum(1, jnp.sum(live, (2, 4)))
    return (jnp.sum(jnp.where(live[:, None], sum(parts), 0), (3, 5)) / count[:, None]).astype(x.dtype)


def _cell_samples(call: Call, start: Any, reach: Any, cells: int) -> tuple[Any, Any]:
    """Positions [regions, cells, samples] along an axis, and which of them there are."""
    cell, fixed = reach / cells, int(call.attr("sampling_ratio", 0))
    each = jnp.full(start.shape, fixed) if fixed > 0 else jnp.maximum(1, jnp.ceil(cell))
    most = fixed if fixed > 0 else int(call.known(each, "regions").max(initial=1))
    index = jnp.arange(call.scratch(most))
    offset = (index + 0.5) * (cell / each)[:, None]
    at = start[:, None, None] + jnp.arange(cells)[None, :, None] * cell[:, None, None] + offset[:, None]
    return at, jnp.broadcast_to((index < each[:, None])[:, None], at.shape)


def _corners(x: Any, places: list[Any]) -> list[Any]:
    """The four neighbours times their weights; nothing beyond one element outside of the field."""
    near, inside = [], jnp.ones((), bool)
    for size, place in zip(x.shape[2:], places, strict=True):
        inside = inside & (place >= -1) & (place <= size)
        at = jnp.clip(place, 0, size - 1)
        low = jnp.floor(at)
        near.append([(low, 1 - (at - low)), (jnp.minimum(low + 1, size - 1), at - low)])
    found = []
    for (y, a), (column, b) in itertools.product(*near):
        found.append(read_at(x, [y, column]) * jnp.where(inside, a * b, 0)[:, None])
    return found


@op("DeformConv")
def deformable_conv(call: Call, x: Any, w: Any, offset: Any, bias: Any = None, mask: Any = None) -> Any:
    """A convolution whose taps are moved by ``offset`` [N, groups * taps * 2, ...] and weighed by ``mask``."""
    if x.ndim != 4:
        raise call.invalid(f"has input of shape {list(x.shape)}; only images are supported")
    batch, channels, *_ = x.shape
    groups, moved = call.attr("group", 1), call.attr("offset_group", 1)
    kernel, out = w.shape[2:], offset.shape[2:]
    strides, dilations = spatial(call, "strides", 2), spatial(call, "dilations", 2)
    pads = call.attr("pads") or [0] * 4
    count = call.scratch(math.prod(kernel))
    shift = offset.reshape(batch * moved, count, 2, *out)
    taps = np.stack(np.meshgrid(*(np.arange(k) * d for k, d in zip(kernel, dilations, strict=True)), indexing="ij"))
    places = []
    for axis in range(2):
        grid = np.arange(out[axis]) * strides[axis] - pads[axis]
        grid = grid.reshape((-1, 1) if axis == 0 else (1, -1))
        places.append(shift[:, :, axis] + taps[axis].reshape(-1, 1, 1) + grid)
    field = jnp.asarray(x).reshape(batch * moved, channels // moved, *x.shape[2:])
    read = sample(field, places, "linear")
    if mask is not None:
        read = read * mask.reshape(batch * moved, 1, count, *out)
    read = read.reshape(batch, groups, channels // groups, count, *out)
    weights = jnp.asarray(w).reshape(groups, w.shape[0] // groups, w.shape[1], count)
    y = jnp.einsum("ngckyx,gock->ngoyx", read, weights).reshape(batch, w.shape[0], *out)
    return y if bias is None else y + per_channel(jnp.asarray(bias), 4)


@op("Col2Im", static=(1, 2))
def columns_to_image(call: Call, x: Any, image: Any, block: Any) -> Any:
    """[N, C * taps, blocks] added where each block lies in an image: [N, C, ...]."""
    sizes, kernel = call.integers(image, "image shape"), call.integers(block, "block shape")
    rank = len(sizes)
    strides, dilations = spatial(call, "strides", rank), spatial(call, "dilations", rank)
    pads = [int(p) for p in call.attr("pads") or [0] * (2 * rank)]
    padded = [n + pads[i] + pads[rank + i] for i, n in enumerate(sizes)]
    counts = [(p - (k - 1) * d - 1) // s + 1 for p, k, d, s in zip(padded, kernel, dilations, strides, strict=True)]
    taps = math.prod(kernel)
    if taps > MOST_TAPS:
        raise call.invalid(f"has blocks of {taps} elements; the limit is {MOST_TAPS}")
    call.claim([x.shape[0], x.shape[1] // taps, *padded])
    parts = jnp.asarray(x).reshape(x.shape[0], x.shape[1] // taps, taps, *counts)
    y = jnp.zeros((x.shape[0], x.shape[1] // taps, *padded), x.dtype)
    for number, place in enumerate(itertools.product(*(range(k) for k in kernel))):
        cut = [
            slice(p * d, p * d + s * (n - 1) + 1, s)
            for p, d, s, n in zip(place, dilations, strides, counts, strict=True)
        ]
        y = y.at[(slice(None), slice(None), *cut)].add(parts[:, :, number])
    return y[(slice(None), slice(None), *(slice(pads[i], pads[i] + n) for i, n in enumerate(sizes)))]


@op("MaxUnpool", static=(2,))
def max_unpool(call: Call, x: Any, places: Any, shape: Any = None) -> Any:
    """Maxima put back where they came from; a larger result has zeros at its end."""
    rank = x.ndim - 2
    kernel, strides = spatial(call, "kernel_shape", rank), spatial(call, "strides", rank)
    pads = [int(p) for p in call.attr("pads") or [0] * (2 * rank)]
    field = [
        (n - 1) * s - pads[i] - pads[rank + i] + k
        for i, (n, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    own = call.claim([*x.shape[:2], *field])
    y = jnp.zeros(math.prod(own), x.dtype).at[jnp.asarray(places).reshape(-1)].set(jnp.asarray(x).reshape(-1))
    wanted = list(own) if shape is None else call.integers(shape, "shape")
    return jnp.pad(y.reshape(own), [(0, max(0, w - o)) for w, o in zip(wanted, own, strict=True)])


@op("CenterCropPad", static=(1,))
def centre_crop_pad(call: Call, x: Any, shape: Any) -> Any:
    """Cut or padded equally at both ends of each axis; an odd element goes to the end."""
    wanted = call.integers(shape, "shape")
    y, sizes = jnp.asarray(x), list(x.shape)
    axes = call.attr("axes") or range(x.ndim)
    for axis, size in zip(axes, wanted, strict=True):
        sizes[axis] = size
    call.claim(sizes)
    cuts, widths = [], []
    for old, new in zip(x.shape, sizes, strict=True):
        cut, more = max(0, old - new), max(0, new - old)
        cuts.append(slice(cut // 2, old - (cut - cut // 2)))
        widths.append((more // 2, more - more // 2))
    return jnp.pad(y[tuple(cuts)], widths)
