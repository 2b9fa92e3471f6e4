"""Residual networks over colour images, 1,000 classes: ResNet (v1.5), and ResNeXt with grouped convolutions.

Shapes: He et al. 2015 (arXiv 1512.03385), table 1, with the stride of a stage in its 3x3 convolution, which is what the
field calls v1.5; Xie et al. 2017 (arXiv 1611.05431), table 1, for grouped 3x3 convolutions. Unit u of stage s, which
published pipeline splits call "stage{s}/unit{u}/relu" or "b{s}/{u-1}/relu", ends in node "stage{s}.block{u}.relu3".
"""

from __future__ import annotations

from simulator.zoo.layers import batch_norm, classifier, convolution, group_norm
from simulator.zoo.network import Network

CLASSES = 1000
STEM = 64
OUTWARD = (256, 512, 1024, 2048)  # channels that a block of each stage gives out


def build(
    *, blocks: list[int], cardinality: int, group_width: int, size: int, norm_groups: int, basic: bool = False
) -> Network:
    """Input ``image`` [batch, 3, size, size], output ``scores`` [batch, 1000].

    A block's 3x3 convolution has ``cardinality`` groups of ``group_width`` channels (in stage 1; twice as many in each
    later one). ``norm_groups`` 0 is batch normalisation, else group normalisation with so many groups. ``basic`` blocks
    are two 3x3 convolutions.
    """
    maker = _Maker(Network("resnet"), norm_groups)
    net = maker.net
    data = maker.activated("stem", net.input("image", ("batch", 3, size, size)), (3, STEM), 7, 2)
    data = net.node("MaxPool", "stem.pool", [data], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inward = STEM
    for stage, (count, wide) in enumerate(zip(blocks, OUTWARD, strict=True)):
        inner = cardinality * group_width << stage
        outward = inner if basic else wide
        for place in range(count):
            stride = 2 if stage and not place else 1
            with net.scope(f"stage{stage + 1}.block{place + 1}"):
                if basic:
                    data = maker.basic(data, (inward, outward), stride)
                else:
                    data = maker.block(data, (inward, inner, outward), stride, cardinality)
            inward = outward
    classifier(net, data, inward, CLASSES)
    return net


class _Maker:
    """Adds convolutions with the norm of the network after each."""

    def __init__(self, net: Network, norm_groups: int) -> None:
        self.net = net
        self._norm_groups = norm_groups

    def normed(
        self, name: str, data: str, channels: tuple[int, int], kernel: int, stride: int, *, groups: int = 1
    ) -> str:
        made = convolution(self.net, name, data, channels, kernel=kernel, stride=stride, groups=groups)
        if self._norm_groups:
            return group_norm(self.net, f"{name}.norm", made, channels[1], self._norm_groups)
        return batch_norm(self.net, f"{name}.norm", made, channels[1])

    def activated(self, name: str, data: str, channels: tuple[int, int], kernel: int, stride: int) -> str:
        return self.net.node("Relu", f"{name}.relu", [self.normed(name, data, channels, kernel, stride)])

    def block(self, data: str, channels: tuple[int, int, int], stride: int, cardinality: int) -> str:
        """A bottleneck: 1x1, 3x3, 1x1, and a projection of the input where its shape changes."""
        inward, inner, outward = channels
        net = self.net
        made = net.node("Relu", "relu1", [self.normed("conv1", data, (inward, inner), 1, 1)])
        made = self.normed("conv2", made, (inner, inner), 3, stride, groups=cardinality)
        made = net.node("Relu", "relu2", [made])
        made = self.normed("conv3", made, (inner, outward), 1, 1)
        if inward != outward:
            data = self.normed("projection", data, (inward, outward), 1, stride)
        return net.node("Relu", "relu3", [net.node("Add", "add", [made, data])])

    def basic(self, data: str, channels: tuple[int, int], stride: int) -> str:
        """Two 3x3 convolutions, and a projection of the input where its shape changes."""
        inward, outward = channels
        net = self.net
        made = net.node("Relu", "relu1", [self.normed("conv1", data, (inward, outward), 3, stride)])
        made = self.normed("conv2", made, (outward, outward), 3, 1)
        if inward != outward:
            data = self.normed("projection", data, (inward, outward), 1, stride)
        return net.node("Relu", "relu3", [net.node("Add", "add", [made, data])])
