"""MobileNet: convolutions of one channel between convolutions of one point.

v1: Howard et al. 2017 (arXiv 1704.04861), table 1; v2: Sandler et al. 2018 (arXiv 1801.04381), table 2; v3: Howard et
al. 2019 (arXiv 1905.02244), tables 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.zoo.efficientnet import rounded
from simulator.zoo.layers import batch_norm, classifier, convolution, dense, dropout
from simulator.zoo.network import Network

CLASSES = 1000


@dataclass(frozen=True)
class Block:
    """Of v2 and v3: side of its kernel, channels inside and out, activation, stride, whether it squeezes."""

    kernel: int
    inside: int
    outside: int
    active: str
    stride: int
    squeezes: bool = False


V1 = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1))
# expansion, channels out, blocks, stride of the first
V2 = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
R, H = "Relu", "HardSwish"
V3_LARGE = (
    Block(3, 16, 16, R, 1), Block(3, 64, 24, R, 2), Block(3, 72, 24, R, 1), Block(5, 72, 40, R, 2, True),
    Block(5, 120, 40, R, 1, True), Block(5, 120, 40, R, 1, True), Block(3, 240, 80, H, 2), Block(3, 200, 80, H, 1),
    Block(3, 184, 80, H, 1), Block(3, 184, 80, H, 1), Block(3, 480, 112, H, 1, True), Block(3, 672, 112, H, 1, True),
    Block(5, 672, 160, H, 2, True), Block(5, 960, 160, H, 1, True), Block(5, 960, 160, H, 1, True),
)  # fmt: skip
V3_SMALL = (
    Block(3, 16, 16, R, 2, True), Block(3, 72, 24, R, 2), Block(3, 88, 24, R, 1), Block(5, 96, 40, H, 2, True),
    Block(5, 240, 40, H, 1, True), Block(5, 240, 40, H, 1, True), Block(5, 120, 48, H, 1, True),
    Block(5, 144, 48, H, 1, True), Block(5, 288, 96, H, 2, True), Block(5, 576, 96, H, 1, True),
    Block(5, 576, 96, H, 1, True),
)  # fmt: skip


def build_v1(*, size: int) -> Network:
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, 1000]."""
    net = Network("mobilenet-v1")
    data = _normed(net, "stem", net.input("image", ("batch", 3, size, size)), (3, 32), kernel=3, stride=2, active=R)
    inward = 32
    for number, (outward, stride) in enumerate(V1):
        with net.scope(f"block{number}"):
            data = _normed(net, "depthwise", data, (inward,) * 2, kernel=3, stride=stride, groups=inward, active=R)
            data = _normed(net, "project", data, (inward, outward), active=R)
        inward = outward
    classifier(net, data, inward, CLASSES)
    return net


def build_v2(*, size: int) -> Network:
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, 1000]."""
    net = Network("mobilenet-v2")
    data = _normed(
        net, "stem", net.input("image", ("batch", 3, size, size)), (3, 32), kernel=3, stride=2, active="Clip"
    )
    inward, number = 32, 0
    for expand, outward, blocks, first in V2:
        for place in range(blocks):
            like = Block(3, expand * inward, outward, "Clip", 1 if place else first)
            data = _block(net, f"block{number}", data, inward, like)
            inward, number = outward, number + 1
    data = _normed(net, "head", data, (inward, 1280), active="Clip")
    classifier(net, data, 1280, CLASSES, dropped=20)
    return net


def build_v3(*, size: int, large: bool) -> Network:
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, 1000]."""
    net, blocks, wide = Network("mobilenet-v3"), V3_LARGE if large else V3_SMALL, 1280 if large else 1024
    data = _normed(net, "stem", net.input("image", ("batch", 3, size, size)), (3, 16), kernel=3, stride=2, active=H)
    inward = 16
    for number, like in enumerate(blocks):
        data = _block(net, f"block{number}", data, inward, like, epsilon=1e-3)
        inward = like.outside
    last = 6 * inward
    data = _normed(net, "head", data, (inward, last), active=H)
    flat = net.node("Flatten", "flatten", [net.node("GlobalAveragePool", "mean", [data])])
    data = net.node(H, "wide.active", [dense(net, "wide", flat, (last, wide))])
    scores = dense(net, "dense", dropout(net, "dropout", data, 20), (wide, CLASSES))
    net.output("scores", scores, ("batch", CLASSES), loss="cross_entropy")
    return net


def _normed(
    net: Network, name: str, data: str, channels: tuple[int, int], *, kernel: int = 1, stride: int = 1, groups: int = 1,
    active: str = "", epsilon: float = 1e-5,
) -> str:  # fmt: skip
    made = convolution(net, name, data, channels, kernel=kernel, stride=stride, groups=groups)
    made = batch_norm(net, f"{name}.norm", made, channels[1], epsilon=epsilon)
    if not active:
        return made
    ends = [net.constant(0.0, "float32"), net.constant(6.0, "float32")] if active == "Clip" else []
    return net.node(active, f"{name}.active", [made, *ends])


def _block(net: Network, name: str, data: str, inward: int, like: Block, *, epsilon: float = 1e-5) -> str:
    """An inverted bottleneck: 1x1 out where it widens, spatial, squeeze and excite, 1x1 back, and the input."""
    inside = like.inside
    with net.scope(name):
        made = data
        if inside != inward:
            made = _normed(net, "expand", made, (inward, inside), active=like.active, epsilon=epsilon)
        made = _normed(
            net, "depthwise", made, (inside, inside), kernel=like.kernel, stride=like.stride, groups=inside,
            active=like.active, epsilon=epsilon,
        )  # fmt: skip
        if like.squeezes:
            made = _squeezed(net, made, inside)
        made = _normed(net, "project", made, (inside, like.outside), epsilon=epsilon)
        return net.node("Add", "add", [made, data]) if like.stride == 1 and inward == like.outside else made


def _squeezed(net: Network, data: str, channels: int) -> str:
    few = rounded(channels, 0.25)
    mean = net.node("GlobalAveragePool", "squeeze", [data])
    made = net.node("Relu", "squeeze.relu", [convolution(net, "squeeze.in", mean, (channels, few), bias=True)])
    made = convolution(net, "squeeze.out", made, (few, channels), bias=True)
    return net.node(
        "Mul", "squeeze.mul", [data, net.node("HardSigmoid", "squeeze.gate", [made], alpha=1 / 6, beta=0.5)]
    )
