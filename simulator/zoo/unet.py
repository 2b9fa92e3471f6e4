"""U-Net (Ronneberger et al. 2015, arXiv 1505.04597, figure 1): unpadded convolutions down and up again."""

from __future__ import annotations

import math

from simulator.zoo.catalogue import refused
from simulator.zoo.network import Network
from simulator.zoo.weights import ZEROS, Start


def build(*, levels: int, width: int, channels: int, size: int, classes: int) -> Network:
    """Input ``image`` [batch, channels, size, size], output ``scores`` [batch, side, side, classes] of each point."""
    sides = _sides(size, levels)
    net, inward, kept = Network("unet"), channels, []
    data = net.input("image", ("batch", channels, size, size))
    for level in range(levels):
        outward = width << level
        data = _pair(net, f"down{level}", data, inward, outward)
        kept.append(_middle(net, f"down{level}.crop", data, *sides[level]))
        data = net.node("MaxPool", f"down{level}.pool", [data], kernel_shape=[2, 2], strides=[2, 2])
        inward = outward
    data = _pair(net, "bottom", data, inward, 2 * inward)
    for level in reversed(range(levels)):
        outward = width << level
        data = _up(net, f"up{level}", data, kept[level], outward)
    data = _conv(net, "classes", data, (width, classes), 1)
    data = net.node("Transpose", "classes.turn", [data], perm=[0, 2, 3, 1])
    side = sides[0][1] - 4
    net.output("scores", data, ("batch", side, side, classes), loss="cross_entropy")
    return net


def _sides(size: int, levels: int) -> list[tuple[int, int]]:
    """For each level the side of what it keeps and of what comes back up to it."""
    kept, side = [], size
    for _ in range(levels):
        side -= 4
        if side <= 4 or side % 2:
            raise refused("size", "such that every pooling halves an even side: 572, 556, 540 and so on")
        kept.append(side)
        side //= 2
    sides = []
    for before in reversed(kept):
        side = 2 * (side - 4)
        sides.append((before, side))
    return sides[::-1]


def _conv(net: Network, name: str, data: str, channels: tuple[int, int], kernel: int) -> str:
    inward, outward = channels
    start = Start("normal", math.sqrt(2 / (kernel * kernel * inward)))
    weight = net.weight(f"{name}.weight", (outward, inward, kernel, kernel), start)
    return net.node(
        "Conv", name, [data, weight, net.weight(f"{name}.bias", (outward,), ZEROS)], kernel_shape=[kernel] * 2
    )


def _pair(net: Network, name: str, data: str, inward: int, outward: int) -> str:
    """Two 3x3 convolutions, each rectified."""
    with net.scope(name):
        data = net.node("Relu", "relu1", [_conv(net, "conv1", data, (inward, outward), 3)])
        return net.node("Relu", "relu2", [_conv(net, "conv2", data, (outward, outward), 3)])


def _middle(net: Network, name: str, data: str, before: int, side: int) -> str:
    """The part of ``side`` in the middle of a side ``before``: only that goes to a later stage."""
    edge = (before - side) // 2
    ends = [net.constant([edge] * 2), net.constant([edge + side] * 2), net.constant([2, 3])]
    return net.node("Slice", name, [data, *ends])


def _up(net: Network, name: str, data: str, kept: str, channels: int) -> str:
    """Twice the side by a transposed convolution, beside what the level kept, and two convolutions."""
    start = Start("normal", math.sqrt(1 / (2 * channels)))
    weight = net.weight(f"{name}.transposed.weight", (2 * channels, channels, 2, 2), start)
    inputs = [data, weight, net.weight(f"{name}.transposed.bias", (channels,), ZEROS)]
    wide = net.node("ConvTranspose", f"{name}.transposed", inputs, kernel_shape=[2, 2], strides=[2, 2])
    joined = net.node("Concat", f"{name}.join", [kept, wide], axis=1)
    return _pair(net, name, joined, 2 * channels, channels)
