"""EfficientNet (Tan and Le 2019, arXiv 1905.11946, tables 1 and 8), and the variant whose spatial convolutions work on
groups of 16 channels with a smaller expansion (Masters et al. 2021, arXiv 2106.03640).

Block letters count the repeats of a stage: "block4a" begins stage 4, as published pipeline splits name it. Those of
timm count from 0: "blocks/3/0/conv_pw" is node "block4a.expand", "bn1" its norm, "conv_dw" and "bn2" are
"block4a.depthwise" and its norm, "conv_pwl" and "bn3" are "block4a.project" and its norm.
"""

from __future__ import annotations

import math

from simulator.zoo.layers import batch_norm, classifier, convolution, group_norm, swish
from simulator.zoo.network import Network

CLASSES = 1000
STEM, HEAD = 32, 1280
# (kernel, stride of the first block, channels out, blocks) of each stage of B0
STAGES = ((3, 1, 16, 1), (3, 2, 24, 2), (5, 2, 40, 2), (3, 2, 80, 3), (5, 1, 112, 3), (5, 2, 192, 4), (3, 1, 320, 1))
SQUEEZE = 4  # channels into a block for each channel of its squeeze
EPSILON = 1e-3


def build(
    *, width: float, depth: float, size: int, classes: int, group: int, expand: int, norm_groups: int, dropped: int
) -> Network:
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, classes]. ``group`` channels see each other in
    a spatial convolution; ``norm_groups`` 0 is batch normalisation; ``dropped`` percent before the last layer."""
    maker = _Maker(Network("efficientnet"), group, expand, norm_groups)
    net, inward = maker.net, rounded(STEM, width)
    data = maker.activated("stem", net.input("image", ("batch", 3, size, size)), (3, inward), kernel=3, stride=2)
    for stage, (kernel, stride, channels, blocks) in enumerate(STAGES, start=1):
        outward = rounded(channels, width)
        for place in range(math.ceil(blocks * depth)):
            with net.scope(f"block{stage}{chr(ord('a') + place)}"):
                data = maker.block(data, (inward, outward), kernel, 1 if place else stride, expands=stage > 1)
            inward = outward
    with net.scope("head"):
        data = maker.activated("conv", data, (inward, rounded(HEAD, width)))
        classifier(net, data, rounded(HEAD, width), classes, dropped=dropped)
    return net


def rounded(channels: int, width: float) -> int:
    """Channels of a wider network: a multiple of 8 that is at most a tenth less than asked for."""
    wanted = channels * width
    near = max(8, int(wanted + 4) // 8 * 8)
    return near if near >= 0.9 * wanted else near + 8


class _Maker:
    """Adds convolutions with the norm and activation of the network."""

    def __init__(self, net: Network, group: int, expand: int, norm_groups: int) -> None:
        self.net = net
        self._group, self._expand, self._norm_groups = group, expand, norm_groups

    def normed(
        self, name: str, data: str, channels: tuple[int, int], *, kernel: int = 1, stride: int = 1, groups: int = 1
    ) -> str:
        made = convolution(self.net, name, data, channels, kernel=kernel, stride=stride, groups=groups)
        if self._norm_groups:
            return group_norm(self.net, f"{name}.norm", made, channels[1], self._norm_groups, epsilon=EPSILON)
        return batch_norm(self.net, f"{name}.norm", made, channels[1], epsilon=EPSILON)

    def activated(
        self, name: str, data: str, channels: tuple[int, int], *, kernel: int = 1, stride: int = 1, groups: int = 1
    ) -> str:
        made = self.normed(name, data, channels, kernel=kernel, stride=stride, groups=groups)
        return swish(self.net, f"{name}.swish", made)

    def block(self, data: str, channels: tuple[int, int], kernel: int, stride: int, *, expands: bool) -> str:
        """An inverted bottleneck: 1x1 out, spatial, squeeze and excite, 1x1 back, and the input where it fits."""
        inward, outward = channels
        inner = inward * (self._expand if expands else 1)
        made = self.activated("expand", data, (inward, inner)) if expands else data
        groups = max(1, inner // self._group)
        made = self.activated("depthwise", made, (inner, inner), kernel=kernel, stride=stride, groups=groups)
        made = self.normed("project", self._squeezed(made, inner, max(1, inward // SQUEEZE)), (inner, outward))
        return self.net.node("Add", "add", [made, data]) if stride == 1 and inward == outward else made

    def _squeezed(self, data: str, channels: int, few: int) -> str:
        net = self.net
        mean = net.node("GlobalAveragePool", "squeeze", [data])
        made = swish(net, "squeeze.swish", convolution(net, "squeeze.in", mean, (channels, few), bias=True))
        gate = net.node("Sigmoid", "squeeze.gate", [convolution(net, "squeeze.out", made, (few, channels), bias=True)])
        return net.node("Mul", "squeeze.mul", [data, gate])
