"""GPT-2 (Radford et al. 2019, "Language models are unsupervised multitask learners", table 2): a causal transformer."""

from __future__ import annotations

from simulator.zoo.catalogue import refused
from simulator.zoo.encoder import Layer, layer
from simulator.zoo.layers import dropout as dropped
from simulator.zoo.layers import layer_norm
from simulator.zoo.network import Network
from simulator.zoo.tables import later
from simulator.zoo.weights import Start

PLACES = 1024


def build(
    *, layers: int, width: int, heads: int, sequence: int, vocab: int, qkv_products: int, dropout: int,
    attention_dropout: int,
) -> Network:  # fmt: skip
    """Input ``tokens`` [batch, sequence], output ``next`` [batch, sequence, vocab]: scores of the token after each.

    The projection is the table of words.
    """
    if sequence > PLACES:
        raise refused("sequence", f"at most {PLACES}, the positions that the model knows")
    net = Network("gpt2")
    like = Layer(
        width, heads, 4 * width, norm_first=True, qkv_products=qkv_products, dropout=dropout,
        attention_dropout=attention_dropout,
    )  # fmt: skip
    with net.scope("embedding"):
        words = net.weight("words", (vocab, width), Start("normal", 0.02))
        data = net.node("Gather", "words.gather", [words, net.input("tokens", ("batch", sequence), "int32")], axis=0)
        places = net.weight("positions", (PLACES, width), Start("normal", 0.01))
        ends = [net.constant([0]), net.constant([sequence]), net.constant([0])]
        data = net.node("Add", "positions.add", [data, net.node("Slice", "positions.slice", [places, *ends])])
        data = dropped(net, "dropout", data, dropout)
    mask = later(net, "mask", sequence)
    for number in range(layers):
        data = layer(net, f"layer{number}", like, data, mask=mask)
    with net.scope("head"):
        data = layer_norm(net, "norm", data, width)
        flat = net.node("Reshape", "flat", [data, net.constant([-1, width])])
        scores = net.node("Gemm", "words", [flat, words], transB=1)
        scores = net.node("Reshape", "words.reshape", [scores, net.constant([-1, sequence, vocab])])
    net.output("next", scores, ("batch", sequence, vocab), loss="cross_entropy")
    return net
