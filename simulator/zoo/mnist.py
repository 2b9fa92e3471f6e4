"""zoo:mnist: conv 3x3 to 32, pool, conv 3x3 to 64, pool, dense to 128, dense to 10.

The shapes are those of Graphcore's PyTorch MNIST example for IPUs, without its dropout.
"""

from __future__ import annotations

import math

from simulator.zoo.network import Network
from simulator.zoo.weights import Start

SIZE = 28
CLASSES = 10


def build() -> Network:
    """Input ``image`` [batch, 1, 28, 28], output ``scores`` [batch, 10]."""
    net = Network("mnist")
    made = net.input("image", ("batch", 1, SIZE, SIZE))
    for layer, channels in (("conv1", (1, 32)), ("conv2", (32, 64))):
        made = net.node(
            "Conv", layer, [made, *_pair(net, layer, (channels[1], channels[0], 3, 3))], kernel_shape=[3, 3]
        )
        made = net.node("MaxPool", f"{layer}.pool", [made], kernel_shape=[2, 2], strides=[2, 2])
        made = net.node("Relu", f"{layer}.relu", [made])
    made = net.node("Flatten", "flatten", [made])
    made = net.node("Gemm", "dense1", [made, *_pair(net, "dense1", (128, 1600))], transB=1)
    made = net.node("Relu", "dense1.relu", [made])
    made = net.node("Gemm", "dense2", [made, *_pair(net, "dense2", (CLASSES, 128))], transB=1)
    net.output("scores", made, ("batch", CLASSES), loss="cross_entropy")
    return net


def _pair(net: Network, layer: str, shape: tuple[int, ...]) -> list[str]:
    """Weight and bias, uniform within 1 / sqrt(fan in), as PyTorch's layers start."""
    start = Start("uniform", 1 / math.sqrt(math.prod(shape[1:])))
    return [net.weight(f"{layer}.weight", shape, start), net.weight(f"{layer}.bias", shape[:1], start)]
