"""Attention as one operator: scaled products of queries and keys, masks, softmax, values; and rotary positions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from simulator.composites.softmax import softmax
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op

SCORES, WITH_MASK, AFTER_CAP, AFTER_SOFTMAX = range(4)  # qk_matmul_output_mode, in the order of opset 24


@op("Attention")
def attention(
    call: Call, q: Any, k: Any, v: Any, mask: Any = None, past_k: Any = None, past_v: Any = None, lengths: Any = None
) -> Any:
    """[N, heads, time, size] or [N, time, heads * size]; with past keys and values in front, masks of four kinds."""
    flat = q.ndim == 3
    q_heads, kv_heads = call.attr("q_num_heads"), call.attr("kv_num_heads")
    if flat:
        q, k, v = split_heads(q, q_heads), split_heads(k, kv_heads), split_heads(v, kv_heads)
    past = 0 if past_k is None else past_k.shape[2]
    if past_k is not None:
        k, v = jnp.concatenate([past_k, k], 2), jnp.concatenate([past_v, v], 2)
    bias = _bias(call, q, k, mask, past, lengths)
    y, seen = attend(call, q, k, v, bias)
    return (join_heads(y) if flat else y), k, v, seen


def split_heads(x: Any, heads: int) -> Any:
    """[N, time, heads * size] to [N, heads, time, size]."""
    batch, time, width = x.shape
    return x.reshape(batch, time, heads, width // heads).transpose(0, 2, 1, 3)


def join_heads(x: Any) -> Any:
    """[N, heads, time, size] to [N, time, heads * size]."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)


def attend(call: Call, q: Any, k: Any, v: Any, bias: Any) -> tuple[Any, Any]:
    """Result [N, heads, time, size], and the scores at the stage that the node wants to see."""
    k, v = repeat_heads(k, q.shape[1]), repeat_heads(v, q.shape[1])
    scale = call.attr("scale") or q.shape[-1] ** -0.5
    root = jnp.asarray(scale**0.5, q.dtype)
    scores = jnp.matmul(q * root, (k * root).swapaxes(-1, -2))
    stages = {SCORES: scores}
    cap = call.attr("softcap", 0.0)
    if cap:
        scores = jnp.tanh(scores / cap) * jnp.asarray(cap, scores.dtype)
    stages[AFTER_CAP if call.opset >= 24 else WITH_MASK] = scores
    if bias is not None:
        scores = scores + bias.astype(scores.dtype)
    stages[WITH_MASK if call.opset >= 24 else AFTER_CAP] = scores
    weights = masked_softmax(scores, dead=bias is not None)
    stages[AFTER_SOFTMAX] = weights
    return jnp.matmul(weights.astype(v.dtype), v), stages[call.attr("qk_matmul_output_mode", 0)]


def masked_softmax(scores: Any, *, dead: bool) -> Any:
    """Softmax over the last axis; a row of which nothing may be read is all zero (``dead``: such rows can be)."""
    if not dead:
        return softmax(scores, -1)
    alive = jnp.isfinite(jnp.max(scores, -1, keepdims=True))
    return jnp.where(alive, softmax(jnp.where(alive, scores, 0), -1), 0).astype(scores.dtype)


def repeat_heads(x: Any, heads: int) -> Any:
    """Each head of keys or values for as many heads of queries as share it."""
    return x if x.shape[1] == heads else jnp.repeat(x, heads // x.shape[1], 1)


def _bias(call: Call, q: Any, k: Any, mask: Any, past: int, lengths: Any) -> Any:
    """What is added to the scores: 0 or minus infinity, or the mask's own numbers; None for nothing."""
    time, total = q.shape[2], k.shape[2]
    allowed = None
    offset = past if lengths is None else (jnp.asarray(lengths) - time).reshape(-1, 1, 1, 1)
    distance = jnp.arange(time)[:, None] + offset - jnp.arange(total)[None, :]
    left, right = call.attr("left_window_size", -1), call.attr("right_window_size", -1)
    bounds = [distance >= 0] if call.attr("is_causal", 0) else []
    bounds += [distance <= left] if left >= 0 else []
    bounds += [-distance <= right] if right >= 0 else []
    if lengths is not None:
        bounds.append(jnp.arange(total) < jnp.asarray(lengths).reshape(-1, 1, 1, 1))
    if mask is not None and mask.dtype == bool:
        bounds.append(padded_mask(mask, total, False))
    for bound in bounds:
        allowed = bound if allowed is None else allowed & bound
    bias = None if allowed is None else jnp.where(allowed, 0.0, -jnp.inf).astype(q.dtype)
    if mask is not None and mask.dtype != bool:
        numbers = padded_mask(mask, total, -jnp.inf)
        bias = numbers if bias is None else bias + numbers
    return bias


def padded_mask(mask: Any, total: int, fill: Any) -> Any:
    """A mask that is shorter than the keys says nothing may be read of the rest."""
    missing = total - mask.shape[-1]
    if missing <= 0 or mask.shape[-1] == 1:
        return mask
    return jnp.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)], constant_values=fill)


@op("RotaryEmbedding")
def rotary(call: Call, x: Any, cos: Any, sin: Any, positions: Any = None) -> Any:
    return rotated(
        x, cos, sin, positions, heads=call.attr("num_heads", 0), width=call.attr("rotary_embedding_dim", 0),
        interleaved=bool(call.attr("interleaved", 0)),
    )  # fmt: skip


def rotated(x: Any, cos: Any, sin: Any, positions: Any, *, heads: int, width: int, interleaved: bool) -> Any:
    """The first ``width`` of each head turned by the angles of its position; [N, time, heads * size] or 4-D."""
    flat = x.ndim == 3
    y = split_heads(x, heads) if flat else x
    width = width or y.shape[-1]
    if positions is not None:
        cos, sin = jnp.asarray(cos)[positions], jnp.asarray(sin)[positions]
    cos, sin = (v[:, None, :, : width // 2] for v in (cos, sin))  # the same for every head
    turned, rest = y[..., :width], y[..., width:]
    a, b = (turned[..., 0::2], turned[..., 1::2]) if interleaved else jnp.split(turned, 2, -1)
    real, imaginary = cos * a - sin * b, sin * a + cos * b
    if interleaved:
        turned = jnp.stack([real, imaginary], -1).reshape(turned.shape)
    else:
        turned = jnp.concatenate([real, imaginary], -1)
    y = jnp.concatenate([turned, rest], -1)
    return join_heads(y) if flat else y
