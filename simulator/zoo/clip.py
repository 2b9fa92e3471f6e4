"""CLIP (Radford et al. 2021, arXiv 2103.00020): an image and a text tower whose features are compared."""

from __future__ import annotations

import math

from simulator.zoo.encoder import Layer, layer
from simulator.zoo.layers import dense, layer_norm
from simulator.zoo.network import Network
from simulator.zoo.tables import later
from simulator.zoo.vit import embedded
from simulator.zoo.weights import Start

SPREAD = Start("normal", 0.02)


def build(
    *, layers: int, width: int, heads: int, patch: int, size: int, text_width: int, text_heads: int, sequence: int,
    vocab: int, shared: int,
) -> Network:  # fmt: skip
    """Inputs ``image`` [batch, 3, size, size], ``tokens`` [batch, sequence] and ``ends`` [batch, 1], the place of the
    last token; output ``scores`` [batch, batch], each image against each text of the micro-batch."""
    net = Network("clip")
    with net.scope("image"):
        image = _image(net, _layer(width, heads), layers, net.input("image", ("batch", 3, size, size)), size, patch)
        image = _unit(net, dense(net, "projection", image, (width, shared), bias=False))
    with net.scope("text"):
        data = _text(net, _layer(text_width, text_heads), layers, sequence, vocab)
        ends = net.node("Unsqueeze", "ends.wide", [net.input("ends", ("batch", 1), "int64"), net.constant([-1])])
        last = net.node("GatherND", "ends.gather", [data, ends], batch_dims=1)
        last = net.node("Reshape", "ends.flat", [last, net.constant([-1, text_width])])
        text = _unit(net, dense(net, "projection", last, (text_width, shared), bias=False))
    scores = _compared(net, image, net.node("Transpose", "head.turn", [text], perm=[1, 0]))
    net.output("scores", scores, ("batch", "batch"), loss="cross_entropy")
    return net


def build_text(*, layers: int, width: int, heads: int, sequence: int, vocab: int) -> Network:
    """The text tower alone: input ``tokens`` [batch, sequence], output ``features`` [batch, sequence, width]."""
    net = Network("clip-text")
    data = _text(net, _layer(width, heads), layers, sequence, vocab)
    net.output("features", data, ("batch", sequence, width), loss="mean_squared_error")
    return net


def build_labeller(*, layers: int, width: int, heads: int, patch: int, size: int, shared: int, texts: int) -> Network:
    """The image tower against ``texts`` features that are given: inputs ``image`` and ``text`` [shared, texts], output
    ``scores`` [batch, texts]."""
    net = Network("clip-labels")
    image = _image(net, _layer(width, heads), layers, net.input("image", ("batch", 3, size, size)), size, patch)
    image = _unit(net, dense(net, "projection", image, (width, shared), bias=False))
    scores = _compared(net, image, net.input("text", (shared, texts)))
    net.output("scores", scores, ("batch", texts), loss="cross_entropy")
    return net


def _layer(width: int, heads: int) -> Layer:
    return Layer(width, heads, 4 * width, norm_first=True, activation="QuickGelu")


def _image(net: Network, like: Layer, layers: int, image: str, size: int, patch: int) -> str:
    """Features [batch, width] of the class token."""
    data = layer_norm(net, "embedding.norm", embedded(net, like, image, size, patch, bias=False), like.width)
    for number in range(layers):
        data = layer(net, f"layer{number}", like, data)
    first = net.node("Gather", "first", [data, net.constant(0)], axis=1)
    return layer_norm(net, "norm", first, like.width)


def _text(net: Network, like: Layer, layers: int, sequence: int, vocab: int) -> str:
    """Features [batch, sequence, width], each of the tokens up to its own."""
    with net.scope("embedding"):
        words = net.weight("words", (vocab, like.width), SPREAD)
        data = net.node("Gather", "words.gather", [words, net.input("tokens", ("batch", sequence), "int32")], axis=0)
        places = net.weight("positions", (sequence, like.width), Start("normal", 0.01))
        data = net.node("Add", "positions.add", [data, places])
    mask = later(net, "mask", sequence)
    for number in range(layers):
        data = layer(net, f"layer{number}", like, data, mask=mask)
    return layer_norm(net, "norm", data, like.width)


def _unit(net: Network, data: str) -> str:
    return net.node("LpNormalization", "unit", [data], axis=-1, p=2)


def _compared(net: Network, image: str, text: str) -> str:
    """Dot products, times the exponential of a learnt number."""
    with net.scope("head"):
        scale = net.node("Exp", "scale.exp", [net.weight("scale", (1,), Start("fill", math.log(1 / 0.07)))])
        return net.node("Mul", "scaled", [net.node("MatMul", "compared", [image, text]), scale])
