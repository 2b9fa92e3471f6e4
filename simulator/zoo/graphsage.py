"""GraphSAGE over sampled neighbourhoods: each layer joins a node with the mean of its neighbours.

Shapes: Hamilton et al. 2017 (arXiv 1706.02216), mean aggregator. A sample is one neighbourhood of fixed size.
"""

from __future__ import annotations

from simulator.zoo.kernels import added
from simulator.zoo.layers import dense
from simulator.zoo.network import Network


def build(*, nodes: int, edges: int, features: int, hidden: int, classes: int, layers: int) -> Network:
    """Inputs ``x`` [batch, nodes, features], ``sender`` and ``receiver`` numbered over the batch, and ``share``: one by
    the number of neighbours. Output ``scores`` [batch, nodes, classes].
    """
    net = Network("graphsage")
    data = net.node("Reshape", "x.rows", [net.input("x", ("batch", nodes, features)), net.constant([-1, features])])
    every = net.constant([-1])
    sender = net.node("Reshape", "sender.flat", [net.input("sender", ("batch", edges), "int32"), every])
    receiver = net.node(
        "Reshape", "receiver.flat", [net.input("receiver", ("batch", edges), "int32"), net.constant([-1, 1])]
    )
    share = net.node("Reshape", "share.column", [net.input("share", ("batch", nodes)), net.constant([-1, 1])])
    width = features
    for index in range(layers):
        out = classes if index == layers - 1 else hidden
        with net.scope(f"layer{index}"):
            none = net.node("Expand", "none", [net.constant(0.0, "float32"), net.node("Shape", "shape", [data])])
            total = added(net, "sum", none, receiver, net.node("Gather", "pick", [data, sender]))
            mean = net.node("Mul", "mean", [total, share])
            own = dense(net, "own", data, (width, out))
            data = net.node("Add", "join", [own, dense(net, "others", mean, (width, out), bias=False)])
            if index < layers - 1:
                data = net.node("Relu", "relu", [data])
        width = out
    made = net.node("Reshape", "scores.packs", [data, net.constant([-1, nodes, classes])])
    net.output("scores", made, ("batch", nodes, classes), loss="cross_entropy")
    return net
