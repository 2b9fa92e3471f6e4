"""BERT (Devlin et al. 2018, arXiv 1810.04805): pre-training with its two heads, packed or not, and SQuAD fine-tuning.

Packing follows Krell et al. 2021 (arXiv 2107.02027): up to ``pack`` sequences share a row, each token attends to its
own sequence alone, positions start again, and the next-sentence head reads one place a sequence. RoBERTa (Liu et al.
2019, arXiv 1907.11692) is the same encoder with other tables, DistilBERT (Sanh et al. 2019, arXiv 1910.01108) with half
the layers and no segments; the layers of ALBERT (Lan et al. 2019, arXiv 1909.11942) share their weights and its tables
are narrow; RoFormer turns queries and keys instead of adding positions (Su et al. 2021, arXiv 2104.09864).
"""

from __future__ import annotations

import math
from typing import Any

from simulator.zoo.catalogue import refused
from simulator.zoo.encoder import Layer, layer
from simulator.zoo.layers import dense, dropout, layer_norm
from simulator.zoo.network import Network, Shape
from simulator.zoo.rotary import rotary
from simulator.zoo.tables import lowered
from simulator.zoo.weights import ZEROS, Start

SPREAD = Start("normal", 0.02)
EPSILON = 1e-12
# predictions a sequence of this length makes: the published settings, 15 % rounded to a multiple of four
USUAL_MASKED = {128: 20, 384: 56, 512: 76}


class _Bert:
    """Embedding and encoder, which every head shares."""

    def __init__(
        self, name: str, *, layers: int, width: int, heads: int, sequence: int, vocab: int, pack: int,
        qkv_products: int, dropout: int, attention_dropout: int, decomposed_gelu: int = 0, places: int = 512,
        kinds: int = 2, turned: bool = False, narrow: int = 0, reordered: bool = False,
    ) -> None:  # fmt: skip
        if sequence > places and not turned:
            raise refused("sequence", f"at most {places}, the positions that the model knows")
        self.net = Network(name)
        self.width, self.sequence, self.vocab, self.pack = width, sequence, vocab, pack
        self._layers, self._places, self._kinds, self._turned = layers, places, kinds, turned
        self.reordered = reordered
        self._narrow = narrow  # width of the tables of an encoder whose layers share their weights
        self._like = Layer(
            width, heads, 4 * width, qkv_products=qkv_products, dropout=dropout,
            attention_dropout=attention_dropout, epsilon=EPSILON,
            activation="DecomposedGelu" if decomposed_gelu else "Gelu",
        )  # fmt: skip

    def encoded(self) -> str:
        """[batch, sequence, width] after the last layer."""
        net = self.net
        with net.scope("embedding"):
            data, mask = self._embedded(), self._mask()
        turn = rotary(net, self.sequence, self.width // self._like.heads) if self._turned else None
        for number in range(self._layers):
            with net.scope(f"layer{number}", weights="layer" if self._narrow else None):
                data = layer(net, "", self._like, data, mask=mask, turn=turn)
        return data

    def _embedded(self) -> str:
        net, row, width = self.net, ("batch", self.sequence), self._narrow or self.width
        tokens = net.input("tokens", row, "int32")
        self.words = net.weight("words", (self.vocab, width), SPREAD)
        data = net.node("Gather", "words.gather", [self.words, tokens], axis=0)
        if self._kinds:
            data = net.node("Add", "kinds.add", [data, self._segments(row)])
        if not self._turned:
            data = net.node("Add", "positions.add", [data, self._positions()])
        data = layer_norm(net, "norm", data, width, epsilon=EPSILON)
        data = dropout(net, "dropout", data, self._like.dropout)
        return dense(net, "widen", data, (width, self.width), spread=0.02) if self._narrow else data

    def _segments(self, row: Shape) -> str:
        """Rows of the table of kinds of segments, or its only row."""
        net = self.net
        kinds = net.weight("kinds", (self._kinds, self._narrow or self.width), SPREAD)
        if self._kinds == 1:
            return kinds
        return net.node("Gather", "kinds.gather", [kinds, net.input("segments", row, "int32")], axis=0)

    def _positions(self) -> str:
        """Rows of the table of positions: the first ones, or those of each token where they are not in order."""
        net = self.net
        table = net.weight("positions", (self._places, self._narrow or self.width), SPREAD)
        if self.pack > 1 or self.reordered:
            places = net.input("positions", ("batch", self.sequence), "int32")
            return net.node("Gather", "positions.gather", [table, places], axis=0)
        ends = [net.constant([0]), net.constant([self.sequence]), net.constant([0])]
        return net.node("Slice", "positions.slice", [table, *ends])

    def _mask(self) -> str:
        """What is added to scores: [batch, 1, 1, sequence] from a mask of tokens, [batch, 1, sequence, sequence] from
        the number of each token's sequence in its pack."""
        net = self.net
        if self.pack == 1:
            given = net.input("mask", ("batch", self.sequence), "int32")
            real = net.node("Cast", "mask.cast", [given], to=9)  # BOOL
            wide = net.node("Unsqueeze", "mask.wide", [real, net.constant([1, 2])])
            return lowered(net, "mask.low", wide, kept=True)
        given = net.input("sequences", ("batch", self.sequence), "int32")
        rows = net.node("Unsqueeze", "mask.rows", [given, net.constant([1, 3])])
        columns = net.node("Unsqueeze", "mask.columns", [given, net.constant([1, 2])])
        return lowered(net, "mask.low", net.node("Equal", "mask.same", [rows, columns]), kept=True)


def build_pretraining(*, mask_tokens: int, masked_first: int = 0, **shape: Any) -> Network:
    """Inputs ``tokens``, ``segments``, ``mask`` [batch, sequence] (packed: ``sequences``, ``positions``), ``masked``
    [batch, mask_tokens] places to predict and, packed, ``firsts`` [batch, pack]; outputs ``words`` [batch,
    mask_tokens, vocab] and ``next`` [batch, 2] (packed [batch, pack, 2]).

    ``masked_first``: tokens come in an order of their own, those to predict in front and the first of each packed
    sequence at the end, as Graphcore's PopART BERT has them. Rows are then sliced, and the head's dense layer, which
    comes before, works on all tokens.
    """
    bert = _Bert("bert", reordered=bool(masked_first), **shape)
    if mask_tokens > bert.sequence - bert.pack:
        raise refused("mask_tokens", f"at most {bert.sequence - bert.pack}, the tokens of a sequence")
    data, masked = bert.encoded(), mask_tokens or _usual_masked(bert.sequence)
    with bert.net.scope("head"):
        _predict_words(bert, data, masked)
        _predict_next(bert, data, masked if masked_first else 0)
    return bert.net


def _usual_masked(sequence: int) -> int:
    return USUAL_MASKED.get(sequence, math.ceil(0.15 * sequence))


def _predict_words(bert: _Bert, data: str, masked: int) -> None:
    """The masked-language head; its projection is the table of words."""
    net, width = bert.net, bert.width
    if not bert.reordered:
        data = _rows(net, "masked", data, masked)
    data = net.node("Gelu", "transform.gelu", [dense(net, "transform", data, (width, width), spread=0.02)])
    data = layer_norm(net, "transform.norm", data, width, epsilon=EPSILON)
    if bert.reordered:
        data = _sliced(net, "masked", data, 0, masked)
    flat = net.node("Reshape", "words.flat", [data, net.constant([-1, width])])
    bias = net.weight("words.bias", (bert.vocab,), ZEROS)
    scores = net.node("Gemm", "words", [flat, bert.words, bias], transB=1)
    scores = net.node("Reshape", "words.reshape", [scores, net.constant([-1, masked, bert.vocab])])
    net.output("words", scores, ("batch", masked, bert.vocab), loss="cross_entropy")


def _predict_next(bert: _Bert, data: str, first: int) -> None:
    """The next-sentence head on the first token of each sequence, at place ``first`` where there is one sequence."""
    net, width = bert.net, bert.width
    shape: Shape = ("batch", bert.pack, 2) if bert.pack > 1 else ("batch", 2)
    made = dense(net, "next", _pooled(bert, data, first), (width, 2), spread=0.02)
    net.output("next", made, shape, loss="cross_entropy")


def _pooled(bert: _Bert, data: str, place: int = 0) -> str:
    """The first token of each sequence through a dense layer: [batch, width], or [batch, pack, width] packed."""
    net, width = bert.net, bert.width
    if bert.pack == 1:
        first = net.node("Gather", "first", [data, net.constant(place)], axis=1)
    elif bert.reordered:
        first = _sliced(net, "firsts", data, bert.sequence - bert.pack, bert.sequence)
    else:
        first = _rows(net, "firsts", data, bert.pack)
    return net.node("Tanh", "pooler.tanh", [dense(net, "pooler", first, (width, width), spread=0.02)])


def _sliced(net: Network, name: str, data: str, start: int, end: int) -> str:
    """Tokens from ``start`` to ``end`` of each sample."""
    ends = [net.constant([start]), net.constant([end]), net.constant([1])]
    return net.node("Slice", f"{name}.slice", [data, *ends])


def _rows(net: Network, name: str, data: str, count: int) -> str:
    """Rows of each sample at the places of the input ``name`` [batch, count]."""
    places = net.node("Unsqueeze", f"{name}.wide", [net.input(name, ("batch", count), "int64"), net.constant([-1])])
    return net.node("GatherND", f"{name}.gather", [data, places], batch_dims=1)


def build_squad(**shape: Any) -> Network:
    """As pre-training without its heads; output ``spans`` [batch, 2, sequence]: scores of start and end."""
    bert = _Bert("bert", **shape)
    data = bert.encoded()
    with bert.net.scope("head"):
        made = dense(bert.net, "spans", data, (bert.width, 2), spread=0.02)
        made = bert.net.node("Transpose", "spans.turn", [made], perm=[0, 2, 1])
    bert.net.output("spans", made, ("batch", 2, bert.sequence), loss="cross_entropy")
    return bert.net


def build_classifier(*, classes: int, **shape: Any) -> Network:
    """As pre-training without its heads; output ``scores`` [batch, classes] from the first token."""
    bert = _Bert("bert", **shape)
    data = bert.encoded()
    with bert.net.scope("head"):
        scores = dense(bert.net, "classes", _pooled(bert, data), (bert.width, classes), spread=0.02)
    bert.net.output("scores", scores, ("batch", classes), loss="cross_entropy")
    return bert.net
