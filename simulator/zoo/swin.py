"""Swin transformers (Liu et al. 2021, arXiv 2103.14030): attention within windows that shift from block to block.

Blocks are counted over all stages ("layer0" to "layer23"), as published placements count them; "merge1" halves the
field before stage 1.
"""

from __future__ import annotations

import numpy as np

from simulator.zoo.catalogue import refused
from simulator.zoo.encoder import Layer, feed_forward, heads_of, residual, scaled, weighed
from simulator.zoo.layers import dense, layer_norm
from simulator.zoo.network import Network
from simulator.zoo.tables import lowered
from simulator.zoo.vit import patches
from simulator.zoo.weights import Start

PATCH = 4


def build(
    *, depths: list[int], width: int, heads: list[int], size: int, window: int, classes: int, qkv_products: int,
    dropout: int, attention_dropout: int,
) -> Network:  # fmt: skip
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, classes]."""
    if size % (PATCH * window << (len(depths) - 1)):
        raise refused("size", f"a multiple of {PATCH * window << (len(depths) - 1)}, or window another one")
    net, field, number = Network("swin"), size // PATCH, 0
    with net.scope("embedding"):
        data = patches(net, net.input("image", ("batch", 3, size, size)), PATCH, width)
        data = layer_norm(net, "norm", data, width)
    for stage, (depth, count) in enumerate(zip(depths, heads, strict=True)):
        if stage:
            data = _merged(net, f"merge{stage}", data, field, width)
            field, width = field // 2, 2 * width
        like = Layer(
            width, count, 4 * width, norm_first=True, qkv_products=qkv_products, dropout=dropout,
            attention_dropout=attention_dropout,
        )  # fmt: skip
        for place in range(depth):
            shift = window // 2 if place % 2 and field > window else 0
            data = _Windows(net, like, field, window, shift).block(f"layer{number}", data)
            number += 1
    with net.scope("head"):
        data = layer_norm(net, "norm", data, width)
        mean = net.node("ReduceMean", "mean", [data, net.constant([1])], keepdims=0)
        scores = dense(net, "classes", mean, (width, classes), spread=0.02)
    net.output("scores", scores, ("batch", classes), loss="cross_entropy")
    return net


def _merged(net: Network, name: str, data: str, field: int, width: int) -> str:
    """Four neighbours side by side, normalised, and projected to twice the width."""
    half = field // 2
    with net.scope(name):
        made = net.node("Reshape", "pairs", [data, net.constant([-1, half, 2, half, 2, width])])
        made = net.node("Transpose", "turn", [made], perm=[0, 1, 3, 4, 2, 5])
        made = net.node("Reshape", "flat", [made, net.constant([-1, half * half, 4 * width])])
        made = layer_norm(net, "norm", made, 4 * width)
        return dense(net, "reduce", made, (4 * width, 2 * width), bias=False, spread=0.02)


class _Windows:
    """One block over a square ``field`` of tokens cut into windows, moved by ``shift`` tokens."""

    def __init__(self, net: Network, like: Layer, field: int, window: int, shift: int) -> None:
        self.net, self.like = net, like
        self._field, self._window, self._shift = field, window, shift

    def block(self, name: str, data: str) -> str:
        with self.net.scope(f"{name}.attention"):
            data = residual(self.net, self.like, data, self._attention)
        with self.net.scope(f"{name}.ffn"):
            return residual(self.net, self.like, data, lambda x: feed_forward(self.net, self.like, x))

    def _attention(self, data: str) -> str:
        net, like, field, window = self.net, self.like, self._field, self._window
        across, tokens = field // window, window * window
        data = net.node("Reshape", "field", [data, net.constant([-1, field, field, like.width])])
        data = self._rolled("shift", data, self._shift)
        data = net.node(
            "Reshape", "windows.cut", [data, net.constant([-1, across, window, across, window, like.width])]
        )
        data = net.node("Transpose", "windows.turn", [data], perm=[0, 1, 3, 2, 4, 5])
        data = net.node("Reshape", "windows", [data, net.constant([-1, tokens, like.width])])
        query, key, value = heads_of(net, like, data)
        turned = net.node("Transpose", "key.transpose", [key], perm=[0, 1, 3, 2])
        scores = scaled(net, "scores", net.node("MatMul", "scores", [query, turned]), like.width // like.heads)
        scores = self._masked(net.node("Add", "bias.add", [scores, self._bias()]))
        made = weighed(net, like, scores, value)
        made = net.node("Reshape", "back.cut", [made, net.constant([-1, across, across, window, window, like.width])])
        made = net.node("Transpose", "back.turn", [made], perm=[0, 1, 3, 2, 4, 5])
        made = net.node("Reshape", "back.field", [made, net.constant([-1, field, field, like.width])])
        made = self._rolled("unshift", made, field - self._shift if self._shift else 0)
        return net.node("Reshape", "back", [made, net.constant([-1, field * field, like.width])])

    def _rolled(self, name: str, data: str, by: int) -> str:
        """Rows and columns moved by ``by`` towards the front, those that fall off put at the end."""
        if not by:
            return data
        for axis, place in ((1, "rows"), (2, "columns")):
            at, ends, where = self.net.constant([by]), self.net.constant([self._field]), self.net.constant([axis])
            first = self.net.node("Slice", f"{name}.{place}.first", [data, self.net.constant([0]), at, where])
            rest = self.net.node("Slice", f"{name}.{place}.rest", [data, at, ends, where])
            data = self.net.node("Concat", f"{name}.{place}", [rest, first], axis=axis)
        return data

    def _bias(self) -> str:
        """A learnt number for each head and distance: [heads, tokens, tokens]."""
        net, tokens = self.net, self._window**2
        table = net.weight("bias", ((2 * self._window - 1) ** 2, self.like.heads), Start("normal", 0.02))
        places = np.stack(np.meshgrid(*[np.arange(self._window)] * 2, indexing="ij")).reshape(2, -1)
        apart = places[:, :, None] - places[:, None, :] + self._window - 1
        index = net.constant((apart[0] * (2 * self._window - 1) + apart[1]).reshape(-1))
        rows = net.node("Gather", "bias.gather", [table, index], axis=0)
        made = net.node("Reshape", "bias.square", [rows, net.constant([tokens, tokens, self.like.heads])])
        return net.node("Transpose", "bias.turn", [made], perm=[2, 0, 1])

    def _masked(self, scores: str) -> str:
        """After a shift, tokens of a window that were not neighbours do not see each other."""
        if not self._shift:
            return scores
        net, tokens, count = self.net, self._window**2, (self._field // self._window) ** 2
        regions = net.constant(self._regions().reshape(count, tokens))
        rows = net.node("Unsqueeze", "mask.rows", [regions, net.constant([1, 3])])
        columns = net.node("Unsqueeze", "mask.columns", [regions, net.constant([1, 2])])
        mask = lowered(net, "mask", net.node("Equal", "mask.same", [rows, columns]), kept=True)
        wide = net.node("Reshape", "mask.wide", [scores, net.constant([-1, count, self.like.heads, tokens, tokens])])
        made = net.node("Add", "mask.add", [wide, mask])
        return net.node("Reshape", "mask.flat", [made, net.constant([-1, self.like.heads, tokens, tokens])])

    def _regions(self) -> np.ndarray:
        """Which of nine regions each token of each window comes from."""
        edges = np.digitize(np.arange(self._field), [self._field - self._window, self._field - self._shift])
        grid = 3 * edges[:, None] + edges[None, :]
        across = self._field // self._window
        cut = grid.reshape(across, self._window, across, self._window)
        return cut.transpose(0, 2, 1, 3)
