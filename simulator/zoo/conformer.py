"""Conformers (Gulati et al. 2020, arXiv 2005.08100): transformers over sound with a convolution in each layer.

The layer is WeNet's: two halves of feed-forward around attention with relative places and a convolution module. In
Graphcore's training of it layer norms take the place of batch norms, and frames that are only padding are masked.
"""

from __future__ import annotations

import math
from dataclasses import replace

from simulator.zoo.encoder import (
    Layer,
    activated,
    attention,
    feed_forward,
    heads_of,
    residual,
    scaled,
    split_heads,
    weighed,
)
from simulator.zoo.layers import batch_norm, dense, dropout, layer_norm, swish
from simulator.zoo.network import Network
from simulator.zoo.tables import later, sinusoid
from simulator.zoo.weights import ZEROS, Start


def build_speech(
    *, layers: int, decoder_layers: int, width: int, heads: int, ffn: int, kernel: int, frames: int, features: int,
    tokens: int, vocab: int, dropped: int, frame_share: int,
) -> Network:  # fmt: skip
    """Encoder and decoder. Inputs ``sound`` [batch, frames, features], ``heard`` [batch, frames / 4], 1 where there is
    sound, and ``tokens`` [batch, tokens] so far; outputs ``frames`` [batch, frames / 4, vocab] of the encoder, trained
    by CTC with a share of ``frame_share`` percent, and ``words`` [batch, tokens, vocab] of the decoder."""
    net = Network("conformer")
    like = Layer(
        width, heads, ffn, norm_first=True, activation="DecomposedSwish", dropout=dropped, inner_dropout=dropped
    )  # fmt: skip
    with net.scope("embedding"):
        sound = net.input("sound", ("batch", frames, features))
        image = net.node("Unsqueeze", "image", [sound, net.constant([1])])
        data, length = _subsampled(net, image, (1, frames, features), width, pads=0)
        data = dropout(net, "dropout", data, dropped)
    encoder = _Encoder(net, like, kernel, length, heard=net.input("heard", ("batch", length), "int32"))
    for number in range(layers):
        data = encoder.layer(f"layer{number}", data)
    data = layer_norm(net, "encoder.norm", data, width)
    with net.scope("head"):
        by_frame = dense(net, "frames", data, (width, vocab))
    made = _decoded(net, like, data, tokens, vocab, decoder_layers)
    with net.scope("head"):
        by_token = dense(net, "words", made, (width, vocab))
    share = frame_share / 100
    net.output("frames", by_frame, ("batch", length, vocab), loss="ctc", share=share, tokens=tokens)
    net.output("words", by_token, ("batch", tokens, vocab), loss="cross_entropy", share=1 - share)
    return net


def build_image(
    *, layers: int, width: int, heads: int, ffn: int, kernel: int, channels: int, height: int, length: int, dropped: int
) -> Network:
    """The encoder alone over an image of ``channels`` x ``height`` x ``length``; output ``memory`` [batch, length / 4,
    width]."""
    net = Network("conformer-encoder")
    like = Layer(width, heads, ffn, norm_first=True, activation="Swish", dropout=dropped)
    with net.scope("embedding"):
        image = net.input("image", ("batch", channels, height, length))
        turned = net.node("Transpose", "turn", [image], perm=[0, 1, 3, 2])
        data, tokens = _subsampled(net, turned, (channels, length, height), width, pads=1)
    encoder = _Encoder(net, like, kernel, tokens)
    for number in range(layers):
        data = encoder.layer(f"layer{number}", data)
    data = layer_norm(net, "encoder.norm", data, width)
    net.output("memory", data, ("batch", tokens, width), loss="mean_squared_error")
    return net


def _subsampled(net: Network, image: str, shape: tuple[int, int, int], width: int, *, pads: int) -> tuple[str, int]:
    """Two 3x3 convolutions of stride 2 over [batch, channels, time, field], then [batch, time / 4, width]."""
    channels, time, field = shape
    for number in (1, 2):
        weight = net.weight(
            f"conv{number}.weight", (width, channels, 3, 3), Start("normal", math.sqrt(2 / (9 * channels)))
        )
        inputs = [image, weight, net.weight(f"conv{number}.bias", (width,), ZEROS)]
        image = net.node("Conv", f"conv{number}", inputs, kernel_shape=[3, 3], strides=[2, 2], pads=[pads] * 4)
        image = net.node("Relu", f"conv{number}.relu", [image])
        channels, time, field = width, (time + 2 * pads - 3) // 2 + 1, (field + 2 * pads - 3) // 2 + 1
    data = net.node("Transpose", "time", [image], perm=[0, 2, 1, 3])
    data = net.node("Reshape", "flat", [data, net.constant([0, 0, width * field])])
    data = dense(net, "projection", data, (width * field, width))
    return net.node("Mul", "scale", [data, net.constant(math.sqrt(width), "float32")]), time


class _Encoder:
    """Layers over ``tokens`` places, whose table of places is computed once; with ``heard`` masked and layer-normed."""

    def __init__(self, net: Network, like: Layer, kernel: int, tokens: int, *, heard: str = "") -> None:
        self._net, self._like, self._kernel = net, like, kernel
        wide = net.node("Unsqueeze", "places.batch", [sinusoid(net, "places", tokens, like.width), net.constant([0])])
        self._places = wide
        self._kept = self._low = ""
        if heard:
            kept = net.node("Unsqueeze", "heard.wide", [heard, net.constant([1, 2])])
            self._kept = net.node("Cast", "heard.kept", [kept], to=1)  # FLOAT
            absent = net.node("Sub", "heard.absent", [self._kept, net.constant(1.0, "float32")])
            self._low = net.node("Mul", "heard.low", [absent, net.constant(1000.0, "float32")])

    def layer(self, name: str, data: str) -> str:
        net, like = self._net, self._like
        with net.scope(name):
            with net.scope("ffn1"):
                data = residual(net, like, data, self._half)
            with net.scope("attention"):
                data = residual(net, like, data, self._attention)
            with net.scope("convolution"):
                data = residual(net, like, data, self._convolution)
            with net.scope("ffn2"):
                data = residual(net, like, data, self._half)
            return layer_norm(net, "norm", data, like.width)

    def _half(self, data: str) -> str:
        made = feed_forward(self._net, self._like, data)
        return self._net.node("Mul", "half", [made, self._net.constant(0.5, "float32")])

    def _attention(self, data: str) -> str:
        """Contents and places are scored apart, each with a learnt number a head and column added to the query."""
        net, like = self._net, self._like
        query, key, value = heads_of(net, like, data)
        places = dense(net, "places", self._places, (like.width, like.width), bias=False)
        places = split_heads(net, "places", places, like.heads)
        parts = []
        for name, other in (("content", key), ("place", places)):
            learnt = net.weight(f"{name}.bias", (like.heads, 1, like.width // like.heads), Start("normal", 0.02))
            moved = net.node("Add", f"{name}.query", [query, learnt])
            turned = net.node("Transpose", f"{name}.transpose", [other], perm=[0, 1, 3, 2])
            parts.append(net.node("MatMul", f"{name}.scores", [moved, turned]))
        scores = scaled(net, "scores", net.node("Add", "scores", parts), like.width // like.heads)
        if self._kept:
            scores = net.node("Mul", "scores.kept", [scores, self._kept])
        return weighed(net, like, scores, value, mask=self._low, kept=self._kept)

    def _convolution(self, data: str) -> str:
        """Twice the width, half of it a gate; a convolution over time for each column; norm, swish, and back."""
        net, width = self._net, self._like.width
        made = dense(net, "in", data, (width, 2 * width))
        value, gate = net.split("Split", "gate.split", [made], 2, axis=-1, num_outputs=2)
        made = net.node("Mul", "gate.mul", [value, net.node("Sigmoid", "gate", [gate])])
        made = net.node("Transpose", "time.turn", [made], perm=[0, 2, 1])
        start = Start("normal", 1 / math.sqrt(self._kernel))
        inputs = [
            made,
            net.weight("time.weight", (width, 1, self._kernel), start),
            net.weight("time.bias", (width,), ZEROS),
        ]
        side = self._kernel // 2
        pads = [side, self._kernel - 1 - side]
        made = net.node("Conv", "time", inputs, kernel_shape=[self._kernel], pads=pads, group=width)
        if self._kept:
            made = net.node("Transpose", "time.back", [made], perm=[0, 2, 1])
            made = activated(net, self._like, layer_norm(net, "time.norm", made, width), "swish")
        else:
            made = swish(net, "swish", batch_norm(net, "time.norm", made, width))
            made = net.node("Transpose", "time.back", [made], perm=[0, 2, 1])
        return dense(net, "out", made, (width, width))


def _decoded(net: Network, like: Layer, memory: str, tokens: int, vocab: int, layers: int) -> str:
    """A transformer decoder over the tokens so far that also looks at ``memory``: [batch, tokens, width]."""
    side = replace(like, activation="Relu")
    with net.scope("decoder"):
        words = net.weight("words", (vocab, like.width), Start("normal", 1 / math.sqrt(like.width)))
        data = net.node("Gather", "words.gather", [words, net.input("tokens", ("batch", tokens), "int32")], axis=0)
        data = net.node("Mul", "scale", [data, net.constant(math.sqrt(like.width), "float32")])
        data = net.node("Add", "places.add", [data, sinusoid(net, "places", tokens, like.width)])
        data = dropout(net, "dropout", data, like.dropout)
        mask = later(net, "mask", tokens)
        for number in range(layers):
            with net.scope(f"layer{number}.attention"):
                data = residual(net, side, data, lambda x: attention(net, side, x, mask=mask))
            with net.scope(f"layer{number}.memory"):
                data = residual(net, side, data, lambda x: attention(net, side, x, memory=memory))
            with net.scope(f"layer{number}.ffn"):
                data = residual(net, side, data, lambda x: feed_forward(net, side, x))
        return layer_norm(net, "norm", data, like.width)
