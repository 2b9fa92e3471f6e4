"""DeBERTa (He et al. 2020, arXiv 2006.03654): attention of contents and of distances, in three products."""

from __future__ import annotations

import numpy as np

from simulator.zoo.encoder import Layer, feed_forward, residual, scaled, split_heads, weighed
from simulator.zoo.layers import dense, layer_norm
from simulator.zoo.layers import dropout as dropped
from simulator.zoo.network import Network
from simulator.zoo.tables import lowered
from simulator.zoo.weights import ZEROS, Start

EPSILON = 1e-7


def build_squad(
    *, layers: int, width: int, heads: int, sequence: int, vocab: int, reach: int, dropout: int, attention_dropout: int
) -> Network:
    """Inputs ``tokens``, ``mask`` [batch, sequence]; output ``spans`` [batch, 2, sequence]: scores of start and end.

    ``reach`` is the largest distance with an embedding of its own.
    """
    net = Network("deberta")
    like = Layer(
        width, heads, 4 * width, dropout=dropout, attention_dropout=attention_dropout, epsilon=EPSILON
    )  # fmt: skip
    with net.scope("embedding"):
        words = net.weight("words", (vocab, width), Start("normal", 0.02))
        data = net.node("Gather", "words.gather", [words, net.input("tokens", ("batch", sequence), "int32")], axis=0)
        data = dropped(net, "dropout", layer_norm(net, "norm", data, width, epsilon=EPSILON), dropout)
        real = net.node("Cast", "mask.cast", [net.input("mask", ("batch", sequence), "int32")], to=9)  # BOOL
        mask = lowered(net, "mask", net.node("Unsqueeze", "mask.wide", [real, net.constant([1, 2])]), kept=True)
        far = net.weight("distances", (2 * reach, width), Start("normal", 0.02))
    distances = _Distances(net, like, far, sequence, reach)
    for number in range(layers):
        with net.scope(f"layer{number}.attention"):
            data = residual(net, like, data, lambda x: distances.attention(x, mask))
        with net.scope(f"layer{number}.ffn"):
            data = residual(net, like, data, lambda x: feed_forward(net, like, x))
    with net.scope("head"):
        made = dense(net, "spans", data, (width, 2), spread=0.02)
        made = net.node("Transpose", "spans.turn", [made], perm=[0, 2, 1])
    net.output("spans", made, ("batch", 2, sequence), loss="cross_entropy")
    return net


class _Distances:
    """Attention whose scores add content to distance and distance to content."""

    def __init__(self, net: Network, like: Layer, far: str, tokens: int, reach: int) -> None:
        self._net, self._like, self._far, self._tokens = net, like, far, tokens
        places = np.arange(tokens)
        rows, columns = net.constant(places[:, None]), net.constant(places[None, :])
        apart = net.node("Sub", "distance.apart", [rows, columns])
        ends = [net.constant(0), net.constant(2 * reach - 1)]
        shifted = net.node("Add", "distance.shifted", [apart, net.constant(reach)])
        self._ahead = net.node("Clip", "distance.ahead", [shifted, *ends])
        turned = net.node("Sub", "distance.turned", [net.constant(reach), apart])
        self._behind = net.node("Clip", "distance.behind", [turned, *ends])

    def attention(self, data: str, mask: str) -> str:
        net, like = self._net, self._like
        made = dense(net, "qkv", data, (like.width, 3 * like.width), bias=False, spread=0.02)
        query, key, value = net.split("Split", "qkv.split", [made], 3, axis=-1, num_outputs=3)
        query = net.node("Add", "query.add", [query, net.weight("query.bias", (like.width,), ZEROS)])
        value = net.node("Add", "value.add", [value, net.weight("value.bias", (like.width,), ZEROS)])
        query, key, value = (split_heads(net, n, x, like.heads) for n, x in
                             (("query", query), ("key", key), ("value", value)))  # fmt: skip
        scores = net.node("MatMul", "scores", [query, self._turned("key", key)])
        far_key = self._far_heads("distance.key", bias=False)
        ahead = self._picked(
            "ahead", net.node("MatMul", "ahead", [query, self._turned("distance.key", far_key)]), self._ahead
        )
        far_query = self._far_heads("distance.query", bias=True)
        behind = net.node("MatMul", "behind", [key, self._turned("distance.query", far_query)])
        behind = self._picked("behind", behind, self._behind)
        scores = net.node("Add", "scores.ahead", [scores, ahead])
        scores = net.node("Add", "scores.behind", [scores, self._turned("behind", behind)])
        return weighed(net, like, scaled(net, "scores", scores, 3 * like.width // like.heads), value, mask=mask)

    def _far_heads(self, name: str, *, bias: bool) -> str:
        """The table of distances as keys or queries: [1, heads, 2 reach, width of a head]."""
        net, like = self._net, self._like
        made = dense(net, name, self._far, (like.width, like.width), bias=bias, spread=0.02)
        return split_heads(net, name, net.node("Unsqueeze", f"{name}.wide", [made, net.constant([0])]), like.heads)

    def _turned(self, name: str, data: str) -> str:
        return self._net.node("Transpose", f"{name}.transpose", [data], perm=[0, 1, 3, 2])

    def _picked(self, name: str, scores: str, index: str) -> str:
        """For each pair of tokens the score of their distance, of [batch, heads, tokens, 2 reach]."""
        net = self._net
        leading = net.node("Shape", f"{name}.leading", [scores], start=0, end=2)
        shape = net.node("Concat", f"{name}.shape", [leading, net.constant([self._tokens] * 2)], axis=0)
        wide = net.node("Expand", f"{name}.wide", [index, shape])
        return net.node("GatherElements", f"{name}.gather", [scores, wide], axis=3)
