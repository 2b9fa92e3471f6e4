"""Whole parts of transformers that onnxruntime's optimiser and exporters write as one operator (com.microsoft)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from simulator.composites import activations as whole
from simulator.composites import norms
from simulator.composites.rms_norm import rms_norm as rms_rows
from simulator.composites.softmax import softmax
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.attention import join_heads, repeat_heads, rotated, split_heads
from simulator.frontends.onnx.ops.norms import over_axes
from simulator.frontends.onnx.registry import op

MS = "com.microsoft"
FILTER = -10_000.0  # what a mask adds to scores that may not be read, unless the node says otherwise


@op("Gelu", "BiasGelu", domain=MS)
def gelu(call: Call, x: Any, bias: Any = None) -> Any:
    return whole.gelu(jnp.asarray(x if bias is None else x + bias))


@op("FastGelu", domain=MS)
def fast_gelu(call: Call, x: Any, bias: Any = None) -> Any:
    return whole.gelu_tanh(jnp.asarray(x if bias is None else x + bias))


@op("QuickGelu", domain=MS)
def quick_gelu(call: Call, x: Any) -> Any:
    return x * whole.logistic(jnp.asarray(x) * jnp.asarray(call.attr("alpha", 1.702), x.dtype))


@op("SimplifiedLayerNormalization")
@op("SimplifiedLayerNormalization", domain=MS)
def simplified_norm(call: Call, x: Any, scale: Any) -> Any:
    axes = range(call.attr("axis", -1) % x.ndim, x.ndim)
    return over_axes(x, axes, lambda rows: rms_rows(rows, call.attr("epsilon", 1e-5))) * scale


@op("SkipLayerNormalization", domain=MS)
def skip_layer_norm(call: Call, x: Any, skip: Any, scale: Any, shift: Any = None, bias: Any = None) -> Any:
    total = jnp.asarray(x) + skip if bias is None else jnp.asarray(x) + skip + bias
    y = norms.layer_norm(total, scale, shift, axis=-1, epsilon=call.attr("epsilon", 1e-12))
    return y, None, None, total


@op("SkipSimplifiedLayerNormalization", domain=MS)
def skip_simplified_norm(call: Call, x: Any, skip: Any, scale: Any, bias: Any = None) -> Any:
    total = jnp.asarray(x) + skip if bias is None else jnp.asarray(x) + skip + bias
    y = over_axes(total, [-1], lambda rows: rms_rows(rows, call.attr("epsilon", 1e-12))) * scale
    return y, None, None, total


@op("EmbedLayerNormalization", domain=MS)
def embed_layer_norm(
    call: Call, words: Any, segments: Any, word_table: Any, place_table: Any, segment_table: Any, scale: Any,
    shift: Any, mask: Any = None, places: Any = None,
) -> Any:  # fmt: skip
    """Embeddings of words, positions and segments summed and normalised; how many words each sample has."""
    time = words.shape[1]
    total = jnp.take(word_table, words, axis=0, mode="clip")
    where = jnp.asarray(place_table)[:time] if places is None else jnp.take(place_table, places, axis=0, mode="clip")
    total = total + where
    if segments is not None:
        total = total + jnp.take(segment_table, segments, axis=0, mode="clip")
    y = norms.layer_norm(total, scale, shift, axis=-1, epsilon=call.attr("epsilon", 1e-12))
    held = jnp.full(words.shape[0], 0) if mask is None else jnp.sum(mask, 1)
    return y, held.astype(jnp.int32), total


def _bias(call: Call, mask: Any, added: Any, time: int, total: int) -> Any:
    """What is added to scores [N, heads, time, total] for a mask of any of its forms, and for being causal."""
    filtered, parts = call.attr("mask_filter_value", FILTER), []
    if mask is not None:
        if mask.ndim == 1:  # how many keys each sample has
            kept = jnp.arange(total)[None, :] < mask[:, None]
        else:
            kept = jnp.asarray(mask) != 0
        shape = {2: (slice(None), None, None), 3: (slice(None), None)}.get(kept.ndim, ())
        parts.append(jnp.where(kept[shape], 0.0, filtered))
    if call.attr("unidirectional", 0):
        later = jnp.arange(total)[None, :] > jnp.arange(time)[:, None] + (total - time)
        parts.append(jnp.where(later, filtered, 0.0))
    return sum(parts[1:], start=parts[0]) if parts and added is None else sum(parts, start=added) if parts else added


def _attended(call: Call, q: Any, k: Any, v: Any, bias: Any) -> Any:
    """Heads [N, heads, time, size] of queries against those of keys and values."""
    scale = call.attr("scale", 0.0) or q.shape[-1] ** -0.5
    scores = jnp.matmul(q, k.swapaxes(-1, -2)) * jnp.asarray(scale, q.dtype)
    cap = call.attr("softcap", 0.0)
    if cap:
        scores = jnp.tanh(scores / cap) * jnp.asarray(cap, scores.dtype)
    scores = scores if bias is None else scores + bias.astype(scores.dtype)
    return jnp.matmul(softmax(scores, -1), v)


@op("Attention", domain=MS)
def attention(
    call: Call, x: Any, w: Any, bias: Any = None, mask: Any = None, past: Any = None, added: Any = None
) -> Any:
    """Self-attention with its projection: ``w`` [inputs, queries + keys + values]."""
    heads, widths = call.required("num_heads"), call.attr("qkv_hidden_sizes")
    if call.attr("do_rotary", 0):
        raise call.invalid("turns positions without saying by which angles, which is not supported")
    projected = jnp.matmul(x, w) if bias is None else jnp.matmul(x, w) + bias
    ends = [w.shape[1] // 3, w.shape[1] // 3 * 2] if widths is None else [widths[0], widths[0] + widths[1]]
    q, k, v = (split_heads(part, heads) for part in jnp.split(projected, ends, -1))
    if past is not None:
        k, v = jnp.concatenate([past[0], k], 2), jnp.concatenate([past[1], v], 2)
    y = join_heads(_attended(call, q, k, v, _bias(call, mask, added, q.shape[2], k.shape[2])))
    return y if len(call.node.outputs) < 2 else (y, jnp.stack([k, v]))


@op("MultiHeadAttention", domain=MS)
def multi_head_attention(
    call: Call, q: Any, k: Any = None, v: Any = None, bias: Any = None, mask: Any = None, added: Any = None,
    past_k: Any = None, past_v: Any = None,
) -> Any:  # fmt: skip
    """Attention of queries [N, time, width] to keys and values, projected already, in rows or in heads."""
    heads = call.required("num_heads")
    if k is None or v is None or q.ndim != 3:
        raise call.invalid("packs queries, keys and values into one tensor, which is not supported")
    parts = [jnp.asarray(q), jnp.asarray(k), jnp.asarray(v)]
    if bias is not None:
        ends = [q.shape[-1], bias.shape[0] - (v.shape[-1] if v.ndim == 3 else q.shape[-1])]
        added_to = jnp.split(jnp.asarray(bias), ends)
        parts = [part + b if part.ndim == 3 else part for part, b in zip(parts, added_to, strict=True)]
    q, k, v = (split_heads(part, heads) if part.ndim == 3 else part for part in parts)
    if past_k is not None:
        k, v = jnp.concatenate([past_k, k], 2), jnp.concatenate([past_v, v], 2)
    y = join_heads(_attended(call, q, k, v, _bias(call, mask, added, q.shape[2], k.shape[2])))
    return y if len(call.node.outputs) < 2 else (y, k, v)


@op("GroupQueryAttention", domain=MS)
def group_query_attention(
    call: Call, q: Any, k: Any, v: Any, past_k: Any = None, past_v: Any = None, lengths: Any = None, total: Any = None,
    cos: Any = None, sin: Any = None,
) -> Any:  # fmt: skip
    """Causal attention with fewer heads of keys than of queries; ``lengths`` [N] is each sample's last position."""
    heads, shared = call.required("num_heads"), call.required("kv_num_heads")
    if k is None:
        width = q.shape[-1] // (heads + 2 * shared)
        q, k, v = jnp.split(q, [heads * width, (heads + shared) * width], -1)
    q, k, v = split_heads(jnp.asarray(q), heads), split_heads(k, shared), split_heads(v, shared)
    time = q.shape[2]
    places = jnp.asarray(lengths).reshape(-1, 1) - (time - 1) + jnp.arange(time)
    if call.attr("do_rotary", 0):
        turn = {"heads": 0, "width": 2 * cos.shape[-1], "interleaved": bool(call.attr("rotary_interleaved", 0))}
        q, k = (rotated(part, cos, sin, jnp.maximum(places, 0), **turn) for part in (q, k))
    if past_k is not None:
        k, v = jnp.concatenate([past_k, k], 2), jnp.concatenate([past_v, v], 2)
    keys = jnp.arange(k.shape[2])
    behind = places[:, None, :, None] - keys
    window = call.attr("local_window_size", -1)
    seen = (behind >= 0) & (behind < window) if window > 0 else behind >= 0
    bias = jnp.where(seen, 0.0, jnp.finfo(q.dtype).min)
    y = _attended(call, q, repeat_heads(k, heads), repeat_heads(v, heads), bias)
    return join_heads(y), k, v


@op("RotaryEmbedding", domain=MS)
def rotary(call: Call, x: Any, positions: Any, cos: Any, sin: Any) -> Any:
    """As the standard's, with one first position for all samples where only one is given."""
    places = jnp.asarray(positions)
    if places.size == 1:
        time = x.shape[1] if x.ndim == 3 else x.shape[2]
        places = jnp.broadcast_to(places.reshape(1, 1) + jnp.arange(time), (x.shape[0], time))
    heads = call.attr("num_heads", 0) or (x.shape[-1] // (2 * cos.shape[-1]) if x.ndim == 3 else 0)
    return rotated(
        x, cos, sin, places, heads=heads, width=call.attr("rotary_embedding_dim", 0),
        interleaved=bool(call.attr("interleaved", 0)),
    )  # fmt: skip
