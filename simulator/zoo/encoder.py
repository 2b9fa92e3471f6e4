"""A layer of a transformer: multi-head attention and a feed-forward part, with the norm before or after each.

Vaswani et al. 2017 (arXiv 1706.03762), figure 1; norm first as in Xiong et al. 2020 (arXiv 2002.04745).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from simulator.zoo.layers import decomposed_gelu, decomposed_swish, dense, dropout, layer_norm
from simulator.zoo.network import Network

Turn = Callable[[Network, str, str], str]  # (net, name, heads [batch, heads, tokens, width]) -> the same, turned


@dataclass(frozen=True)
class Layer:
    """Sizes of one layer. ``qkv_products`` 1 makes query, key and value in one matrix product, 3 in three.

    Dropouts are percents, ``inner_dropout`` that between the two dense layers; ``activation`` is "Gelu",
    "DecomposedGelu" (the same in five operators), "QuickGelu" (x * sigmoid(1.702 x)), "Swish", "DecomposedSwish" (the
    same in two operators) or "Relu".
    """

    width: int
    heads: int
    ffn: int
    norm_first: bool = False
    activation: str = "Gelu"
    qkv_products: int = 3
    dropout: int = 0
    attention_dropout: int = 0
    inner_dropout: int = 0
    epsilon: float = 1e-5
    spread: float = 0.02


def layer(net: Network, name: str, like: Layer, data: str, *, mask: str = "", turn: Turn | None = None) -> str:
    """One layer over ``data`` [batch, tokens, width]; ``mask`` is added to the scores, ``turn`` changes q and k."""
    prefix = f"{name}." if name else ""
    with net.scope(f"{prefix}attention"):
        data = residual(net, like, data, lambda x: attention(net, like, x, mask=mask, turn=turn))
    with net.scope(f"{prefix}ffn"):
        return residual(net, like, data, lambda x: feed_forward(net, like, x))


def residual(net: Network, like: Layer, data: str, inner: Callable[[str], str]) -> str:
    """``data`` plus what ``inner`` makes of it, normalised before or after."""
    if like.norm_first:
        made = inner(layer_norm(net, "norm", data, like.width, epsilon=like.epsilon))
        return net.node("Add", "residual", [data, dropout(net, "dropout", made, like.dropout)])
    made = net.node("Add", "residual", [data, dropout(net, "dropout", inner(data), like.dropout)])
    return layer_norm(net, "norm", made, like.width, epsilon=like.epsilon)


def attention(
    net: Network, like: Layer, data: str, *, mask: str = "", turn: Turn | None = None, memory: str = ""
) -> str:
    """Softmax(q k' / sqrt(width of a head) + mask) v, and the projection out; k and v from ``memory`` if given."""
    query, key, value = heads_of(net, like, data, memory)
    if turn is not None:
        query, key = turn(net, "query.turn", query), turn(net, "key.turn", key)
    turned = net.node("Transpose", "key.transpose", [key], perm=[0, 1, 3, 2])
    scores = scaled(net, "scores", net.node("MatMul", "scores", [query, turned]), like.width // like.heads)
    return weighed(net, like, scores, value, mask=mask)


def scaled(net: Network, name: str, scores: str, width: int) -> str:
    """``scores`` over the root of the width of a head."""
    return net.node("Mul", f"{name}.scale", [scores, net.constant(1 / math.sqrt(width), "float32")])


def weighed(net: Network, like: Layer, scores: str, value: str, *, mask: str = "", kept: str = "") -> str:
    """Values weighed by the softmax of masked scores (times ``kept``), heads joined, and the projection out."""
    if mask:
        scores = net.node("Add", "scores.mask", [scores, mask])
    weights = net.node("Softmax", "softmax", [scores], axis=-1)
    if kept:
        weights = net.node("Mul", "softmax.kept", [weights, kept])
    weights = dropout(net, "softmax.dropout", weights, like.attention_dropout)
    made = join_heads(net, net.node("MatMul", "context", [weights, value]), like.width)
    return dense(net, "projection", made, (like.width, like.width), spread=like.spread)


def heads_of(net: Network, like: Layer, data: str, memory: str = "") -> list[str]:
    """Query of ``data``, key and value of ``memory`` or ``data``, each [batch, heads, tokens, width of a head]."""
    parts = {"query": data, "key": memory or data, "value": memory or data}
    if like.qkv_products == 1 and not memory:
        made = dense(net, "qkv", data, (like.width, 3 * like.width), spread=like.spread)
        wide = net.split("Split", "qkv.split", [made], 3, axis=-1, num_outputs=3)
    else:
        wide = [dense(net, part, of, (like.width, like.width), spread=like.spread) for part, of in parts.items()]
    return [split_heads(net, part, made, like.heads) for part, made in zip(parts, wide, strict=True)]


def split_heads(net: Network, name: str, data: str, heads: int) -> str:
    """[batch, tokens, width] to [batch, heads, tokens, width of a head]."""
    made = net.node("Reshape", f"{name}.heads", [data, net.constant([0, 0, heads, -1])])
    return net.node("Transpose", f"{name}.split", [made], perm=[0, 2, 1, 3])


def join_heads(net: Network, data: str, width: int) -> str:
    """[batch, heads, tokens, width of a head] to [batch, tokens, width]."""
    made = net.node("Transpose", "context.join", [data], perm=[0, 2, 1, 3])
    return net.node("Reshape", "context.merge", [made, net.constant([0, 0, width])])


def feed_forward(net: Network, like: Layer, data: str) -> str:
    """Two dense layers and an activation between them."""
    made = activated(net, like, dense(net, "in", data, (like.width, like.ffn), spread=like.spread))
    made = dropout(net, "activation.dropout", made, like.inner_dropout)
    return dense(net, "out", made, (like.ffn, like.width), spread=like.spread)


def activated(net: Network, like: Layer, data: str, name: str = "activation") -> str:
    """The activation of the layer."""
    if like.activation == "DecomposedGelu":
        return decomposed_gelu(net, name, data)
    if like.activation == "DecomposedSwish":
        return decomposed_swish(net, name, data)
    if like.activation != "QuickGelu":
        return net.node(like.activation, name, [data])
    slope = net.node("Mul", f"{name}.scale", [data, net.constant(1.702, "float32")])
    return net.node("Mul", name, [data, net.node("Sigmoid", f"{name}.sigmoid", [slope])])
