"""Operators of models that generate token by token: caches, linear attention, causal convolution, user-made scores."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from onnx import helper

from simulator.composites.softmax import softmax
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.ops.attention import join_heads, repeat_heads, split_heads
from simulator.frontends.onnx.registry import op


@op("LinearAttention")
def linear_attention(
    call: Call, q: Any, k: Any, v: Any, past: Any = None, decay: Any = None, beta: Any = None
) -> tuple[Any, Any]:
    """A state [N, heads, keys, values] that each step decays, corrects and adds to; queries read it. In float32."""
    q_heads, kv_heads = call.required("q_num_heads"), call.required("kv_num_heads")
    rule = call.text("update_rule", "gated_delta")
    queries, keys, values = (
        split_heads(x, h).astype(jnp.float32) for x, h in ((q, q_heads), (k, kv_heads), (v, kv_heads))
    )
    state = jnp.zeros((q.shape[0], kv_heads, keys.shape[-1], values.shape[-1]), jnp.float32)
    state = state if past is None else jnp.asarray(past).astype(jnp.float32)
    scale = call.attr("scale", 0.0) or keys.shape[-1] ** -0.5
    gates = [] if decay is None else [split_heads(jnp.asarray(decay), kv_heads).astype(jnp.float32)]
    rates = [] if beta is None else [jnp.asarray(beta).astype(jnp.float32).transpose(0, 2, 1)[..., None]]

    def step(held: Any, now: Any) -> Any:
        query, key, value, gate, rate = now
        if gate:
            held = held * jnp.exp(gate[0])[..., None]
        if "delta" in rule:
            value = rate[0] * (value - jnp.einsum("bhdm,bhd->bhm", held, key))
        held = held + key[..., :, None] * value[..., None, :]
        return held, scale * jnp.einsum("bhd,bhdm->bhm", query, repeat_heads(held, q_heads))

    in_time = jax.tree.map(lambda x: jnp.moveaxis(x, 2, 0), (queries, keys, values, gates, rates))
    state, outputs = jax.lax.scan(step, state, in_time)
    result = join_heads(jnp.moveaxis(outputs, 0, 2)).astype(q.dtype)
    return result, state.astype(q.dtype if past is None else past.dtype)


@op("CausalConvWithState")
def causal_conv(call: Call, x: Any, w: Any, bias: Any = None, past: Any = None) -> tuple[Any, Any]:
    """Each channel [N, C, time] with its own kernel over what came before; the last inputs are the next state."""
    reach = w.shape[2] - 1
    before = jnp.zeros((*x.shape[:2], reach), x.dtype) if past is None else past
    padded = jnp.concatenate([before, x], 2)
    y = jax.lax.conv_general_dilated(padded, jnp.asarray(w), [1], [(0, 0)], feature_group_count=x.shape[1])
    y = y if bias is None else y + jnp.asarray(bias)[None, :, None]
    if call.text("activation", "none") in ("silu", "swish"):
        y = jax.nn.silu(y.astype(jnp.float32)).astype(x.dtype)
    return y, padded[:, :, padded.shape[2] - reach :]


@op("FlexAttention", domain="ai.onnx.preview")
def flex_attention(call: Call, q: Any, k: Any, v: Any) -> Any:
    """Attention whose scores and weights pass through graphs of the model's own."""
    k, v = repeat_heads(k, q.shape[1]), repeat_heads(v, q.shape[1])
    root = jnp.asarray((call.attr("scale") or q.shape[-1] ** -0.5) ** 0.5, q.dtype)
    code = call.attr("softmax_precision")
    kind = helper.tensor_dtype_to_np_dtype(code) if code else jnp.promote_types(q.dtype, jnp.float32)
    scores = jnp.matmul(q * root, (k * root).swapaxes(-1, -2)).astype(kind)
    if call.attr("score_mod") is not None:
        scores = call.branch("score_mod", scores)[0].astype(kind)
    weights = softmax(scores, -1)
    if call.attr("prob_mod") is not None:
        weights = call.branch("prob_mod", weights)[0].astype(kind)
    return jnp.matmul(weights, v.astype(kind)).astype(v.dtype)


@op("TensorScatter")
def tensor_scatter(call: Call, cache: Any, update: Any, starts: Any = None) -> Any:
    """New rows written into each sample's cache from its own position on, going round or not."""
    axis = call.attr("axis", -2) % cache.ndim
    size, rows = cache.shape[axis], update.shape[axis]
    first = jnp.zeros(cache.shape[0], jnp.int32) if starts is None else jnp.asarray(starts).astype(jnp.int32)
    places = first[:, None] + jnp.arange(rows)[None, :]
    if call.text("mode", "linear") == "circular":
        places = places % size
    table, new = jnp.moveaxis(jnp.asarray(cache), axis, 1), jnp.moveaxis(jnp.asarray(update), axis, 1)
    written = jax.vmap(lambda held, at, value: held.at[at].set(value))(table, places, new)
    return jnp.moveaxis(written, 1, axis)
