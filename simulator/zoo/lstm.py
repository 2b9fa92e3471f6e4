"""Layers of long short-term memory (Hochreiter and Schmidhuber 1997) over a sequence, and a dense layer at its end."""

from __future__ import annotations

import math

from simulator.zoo.layers import dense
from simulator.zoo.network import Network
from simulator.zoo.weights import Start


def build(*, layers: int, features: int, hidden: int, sequence: int, classes: int) -> Network:
    """Input ``sequence`` [batch, sequence, features], output ``scores`` [batch, classes] from the last step."""
    net = Network("lstm")
    data = net.input("sequence", ("batch", sequence, features))
    data = net.node("Transpose", "time", [data], perm=[1, 0, 2])
    for number in range(layers):
        data = lstm(net, f"layer{number}", data, features if not number else hidden, hidden)
    last = net.node("Gather", "head.last", [data, net.constant(sequence - 1)], axis=0)
    net.output("scores", dense(net, "head.classes", last, (hidden, classes)), ("batch", classes), loss="cross_entropy")
    return net


def lstm(net: Network, name: str, data: str, inward: int, hidden: int) -> str:
    """One layer over [time, batch, inward]: [time, batch, hidden]. Both biases are kept, as exporters write them."""
    start = Start("uniform", 1 / math.sqrt(hidden))
    inputs = [
        net.weight(f"{name}.input", (1, 4 * hidden, inward), start),
        net.weight(f"{name}.recurrent", (1, 4 * hidden, hidden), start),
        net.weight(f"{name}.bias", (1, 8 * hidden), start),
    ]
    made = net.node("LSTM", name, [data, *inputs], hidden_size=hidden)
    return net.node("Squeeze", f"{name}.squeeze", [made, net.constant([1])])
