"""Choosing among candidates: non-maximum suppression, unique values. Their results have no fixed length.

A device has only fixed shapes: there, suppression fills the rows that it does not need with -1, and says so.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call, decided
from simulator.frontends.onnx.registry import op


@op("NonMaxSuppression", static=(2, 3, 4))
def non_max_suppression(
    call: Call, boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None
) -> Any:
    """Rows (sample, class, box), best first within each class, of ``boxes`` [N, boxes, 4], ``scores`` [N, C, boxes]."""
    count = 0 if most is None else call.integers(most, "largest number of boxes")[0]
    limit = _scalar(call, overlap, 0.0)
    floor = -np.inf if least is None or not np.size(least) else _scalar(call, least, 0.0)
    rows = max(0, min(count, boxes.shape[1]))
    x = _corners(jnp.asarray(boxes), bool(call.attr("center_point_box", 0)))
    of_classes = jax.vmap(lambda b, s: _chosen(b, s, rows, limit, floor), (None, 0))
    chosen = jax.vmap(of_classes)(x, jnp.asarray(scores))
    sample, kind, _ = jnp.indices(chosen.shape)
    table = jnp.stack([jnp.where(chosen < 0, -1, v) for v in (sample, kind, chosen)], -1).reshape(-1, 3)
    if not call.context.exact:
        call.note("model.fixed_rows", "gives a fixed number of rows here; those that it does not need are -1")
        return table
    known = decided(table)
    if known is None:
        raise call.data_dependent("number of boxes")
    return known[known[:, 2] >= 0].astype(np.int64)


def _scalar(call: Call, value: Any, default: float) -> float:
    return default if value is None or not np.size(value) else float(call.known(value, "thresholds").reshape(-1)[0])


def _corners(boxes: Any, centred: bool) -> Any:
    """[..., 4] as (low, low, high, high), whichever way round they were given."""
    if centred:
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        return jnp.concatenate([middle - half, middle + half], -1)
    a, b = boxes[..., :2], boxes[..., 2:]
    return jnp.concatenate([jnp.minimum(a, b), jnp.maximum(a, b)], -1)


def _chosen(boxes: Any, scores: Any, rows: int, limit: float, floor: float) -> Any:
    """Numbers of the boxes kept in one class, best first, -1 where none is left: [rows]."""
    area = jnp.prod(boxes[:, 2:] - boxes[:, :2], -1)

    def one(live: Any, _: Any) -> Any:
        best = jnp.argmax(jnp.where(live, scores, -jnp.inf))
        found = live[best]
        low, high = jnp.maximum(boxes[:, :2], boxes[best, :2]), jnp.minimum(boxes[:, 2:], boxes[best, 2:])
        shared = jnp.prod(jnp.maximum(high - low, 0), -1)
        union = area + area[best] - shared
        too_close = (shared > 0) & (shared > limit * union)
        return live & ~too_close & (jnp.arange(len(scores)) != best), jnp.where(found, best, -1)

    return jax.lax.scan(one, scores > floor, None, rows)[1]


@op("Unique")
def unique(call: Call, x: Any) -> Any:
    """Values, where each first appears, which one each element is, and how often: only of values known by then."""
    known, axis = call.known(x, "values"), call.attr("axis")
    _, first, which, counts = np.unique(known, True, True, True, axis=axis)
    order = np.arange(len(first)) if call.attr("sorted", 1) else np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    values = np.take(known.reshape(-1) if axis is None else known, first[order], 0 if axis is None else axis)
    return values, *(v.astype(np.int64) for v in (first[order], rank[which.reshape(-1)], counts[order]))
