"""Vision transformers (Dosovitskiy et al. 2020, arXiv 2010.11929, table 1) and what others build on them."""

from __future__ import annotations

from simulator.zoo.catalogue import refused
from simulator.zoo.encoder import Layer, layer
from simulator.zoo.layers import dense, dropout, layer_norm
from simulator.zoo.network import Network
from simulator.zoo.weights import ZEROS, Start

SPREAD = Start("normal", 0.02)
EPSILON = 1e-6


def build(
    *, layers: int, width: int, heads: int, patch: int, size: int, classes: int, qkv_products: int, dropout: int,
    attention_dropout: int,
) -> Network:  # fmt: skip
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, classes]."""
    net = Network("vit")
    like = Layer(
        width, heads, 4 * width, norm_first=True, qkv_products=qkv_products, dropout=dropout,
        attention_dropout=attention_dropout, epsilon=EPSILON,
    )  # fmt: skip
    data = embedded(net, like, net.input("image", ("batch", 3, size, size)), size, patch)
    for number in range(layers):
        data = layer(net, f"layer{number}", like, data)
    with net.scope("head"):
        data = layer_norm(net, "norm", data, width, epsilon=EPSILON)
        first = net.node("Gather", "first", [data, net.constant(0)], axis=1)
        scores = dense(net, "classes", first, (width, classes), spread=0.02)
    net.output("scores", scores, ("batch", classes), loss="cross_entropy")
    return net


def embedded(net: Network, like: Layer, image: str, size: int, patch: int, *, bias: bool = True) -> str:
    """Patches, a class token before them, and positions: [batch, 1 + (size / patch) squared, width]."""
    if size % patch:
        raise refused("size", f"a multiple of {patch}, the side of a patch")
    with net.scope("embedding"):
        data = patches(net, image, patch, like.width, bias=bias)
        token = net.weight("class", (1, 1, like.width), ZEROS)
        batch = net.node("Shape", "class.batch", [data], start=0, end=1)
        shape = net.node("Concat", "class.shape", [batch, net.constant([1, like.width])], axis=0)
        data = net.node("Concat", "class.add", [net.node("Expand", "class.expand", [token, shape]), data], axis=1)
        places = net.weight("positions", (1, (size // patch) ** 2 + 1, like.width), SPREAD)
        return dropout(net, "dropout", net.node("Add", "positions.add", [data, places]), like.dropout)


def patches(net: Network, image: str, patch: int, width: int, *, bias: bool = True) -> str:
    """Square patches as tokens: [batch, tokens, width]."""
    inputs = [image, net.weight("patches.weight", (width, 3, patch, patch), SPREAD)]
    if bias:
        inputs.append(net.weight("patches.bias", (width,), ZEROS))
    data = net.node("Conv", "patches", inputs, kernel_shape=[patch] * 2, strides=[patch] * 2)
    data = net.node("Reshape", "patches.flat", [data, net.constant([0, width, -1])])
    return net.node("Transpose", "patches.turn", [data], perm=[0, 2, 1])
