"""GhostNet (Han et al. 2020, arXiv 1911.11907, table 1): half of all channels are cheap copies of the other."""

from __future__ import annotations

from simulator.zoo.layers import batch_norm, classifier, convolution
from simulator.zoo.network import Network

STEM, LAST, HEAD, CLASSES = 16, 960, 1280, 1000
# (kernel, channels inside, channels out, whether it squeezes, stride) of each block, at width 1
BLOCKS = (
    (3, 16, 16, False, 1), (3, 48, 24, False, 2), (3, 72, 24, False, 1), (5, 72, 40, True, 2), (5, 120, 40, True, 1),
    (3, 240, 80, False, 2), (3, 200, 80, False, 1), (3, 184, 80, False, 1), (3, 184, 80, False, 1),
    (3, 480, 112, True, 1), (3, 672, 112, True, 1), (5, 672, 160, True, 2), (5, 960, 160, False, 1),
    (5, 960, 160, True, 1), (5, 960, 160, False, 1), (5, 960, 160, True, 1),
)  # fmt: skip


def build(*, width: float, size: int) -> Network:
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, 1000]."""
    net, inward = Network("ghostnet"), rounded(STEM * width)
    image = net.input("image", ("batch", 3, size, size))
    data = net.node("Relu", "stem.relu", [_normed(net, "stem", image, (3, inward), kernel=3, stride=2)])
    for number, (kernel, inside, outside, squeezes, stride) in enumerate(BLOCKS):
        outward = rounded(outside * width)
        with net.scope(f"block{number}"):
            channels = (inward, rounded(inside * width), outward)
            data = _block(net, data, channels, kernel, stride, squeezes=squeezes)
        inward = outward
    last = rounded(LAST * width)
    with net.scope("head"):
        data = net.node("Relu", "last.relu", [_normed(net, "last", data, (inward, last))])
        data = net.node("GlobalAveragePool", "pool", [data])
        data = net.node("Relu", "wide.relu", [convolution(net, "wide", data, (last, HEAD), bias=True)])
        classifier(net, data, HEAD, CLASSES, dropped=20)
    return net


def rounded(channels: float) -> int:
    """A multiple of 4 that is at most a tenth less than asked for."""
    near = max(4, int(channels + 2) // 4 * 4)
    return near if near >= 0.9 * channels else near + 4


def _normed(
    net: Network, name: str, data: str, channels: tuple[int, int], *, kernel: int = 1, stride: int = 1, groups: int = 1
) -> str:
    made = convolution(net, name, data, channels, kernel=kernel, stride=stride, groups=groups)
    return batch_norm(net, f"{name}.norm", made, channels[1])


def _ghost(net: Network, name: str, data: str, channels: tuple[int, int], *, active: bool) -> str:
    """Half of the channels by a 1x1 convolution, the others from those by one 3x3 convolution a channel."""
    inward, outward = channels
    half = -(-outward // 2)
    made = _normed(net, f"{name}.primary", data, (inward, half))
    made = net.node("Relu", f"{name}.primary.relu", [made]) if active else made
    cheap = _normed(net, f"{name}.cheap", made, (half, half), kernel=3, groups=half)
    cheap = net.node("Relu", f"{name}.cheap.relu", [cheap]) if active else cheap
    return net.node("Concat", f"{name}.join", [made, cheap], axis=1)


def _block(net: Network, data: str, channels: tuple[int, int, int], kernel: int, stride: int, *, squeezes: bool) -> str:
    """A ghost module out, a convolution a channel where the field halves, squeeze and excite, a ghost module back."""
    inward, inside, outward = channels
    made = _ghost(net, "out", data, (inward, inside), active=True)
    if stride > 1:
        made = _normed(net, "depthwise", made, (inside, inside), kernel=kernel, stride=stride, groups=inside)
    if squeezes:
        made = _squeezed(net, made, inside)
    made = _ghost(net, "back", made, (inside, outward), active=False)
    if stride > 1 or inward != outward:
        data = _normed(net, "skip.depthwise", data, (inward, inward), kernel=kernel, stride=stride, groups=inward)
        data = _normed(net, "skip.project", data, (inward, outward))
    return net.node("Add", "add", [made, data])


def _squeezed(net: Network, data: str, channels: int) -> str:
    few = rounded(channels / 4)
    mean = net.node("GlobalAveragePool", "squeeze", [data])
    made = net.node("Relu", "squeeze.relu", [convolution(net, "squeeze.in", mean, (channels, few), bias=True)])
    made = convolution(net, "squeeze.out", made, (few, channels), bias=True)
    return net.node(
        "Mul", "squeeze.mul", [data, net.node("HardSigmoid", "squeeze.gate", [made], alpha=1 / 6, beta=0.5)]
    )
