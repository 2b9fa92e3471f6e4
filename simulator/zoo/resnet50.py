"""zoo:resnet50: ResNet-50 v1.5 over 224x224 colour images, 1,000 classes. Weights come from a fixed seed.

Shapes: He et al. 2015 (arXiv 1512.03385), table 1, with the stride of a stage in its 3x3 convolution, which is what the
field calls v1.5 (MLPerf Training's image classification, NVIDIA's DeepLearningExamples).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

SEED = 20_261_102
OPSET = 17
# (blocks, channels inside a block, stride of the first block); a block gives out four times its channels
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
CLASSES = 1000


class _Network:
    """Nodes and weights in the making; each method adds a layer and returns the name of its output."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self._chance = np.random.default_rng(SEED)

    def node(self, op: str, name: str, inputs: list[str], **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op, inputs, [f"{name}.out"], name=name, **attributes))
        return f"{name}.out"

    def tensor(self, name: str, values: np.ndarray) -> str:
        self.weights.append(numpy_helper.from_array(values.astype(np.float32, copy=False), name))
        return name

    def convolution(self, name: str, data: str, channels: tuple[int, int], kernel: int, stride: int) -> str:
        """Convolution without bias and batch normalisation; weights as He et al. 2015 (arXiv 1502.01852) start them."""
        inward, outward = channels
        spread = math.sqrt(2 / (outward * kernel * kernel))
        values = self._chance.standard_normal((outward, inward, kernel, kernel), dtype=np.float32) * np.float32(spread)
        weight = self.tensor(f"{name}.weight", values)
        made = self.node(
            "Conv", name, [data, weight], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4
        )
        ones, zeros = np.ones(outward), np.zeros(outward)
        statistics = [
            self.tensor(f"{name}.norm.{part}", values)
            for part, values in (("scale", ones), ("bias", zeros), ("mean", zeros), ("var", ones))
        ]
        return self.node("BatchNormalization", f"{name}.norm", [made, *statistics])

    def block(self, name: str, data: str, inward: int, channels: int, stride: int) -> str:
        """A bottleneck: 1x1, 3x3, 1x1, and a projection of the input where its shape changes."""
        outward = 4 * channels
        made = self.node("Relu", f"{name}.relu1", [self.convolution(f"{name}.conv1", data, (inward, channels), 1, 1)])
        made = self.convolution(f"{name}.conv2", made, (channels, channels), 3, stride)
        made = self.node("Relu", f"{name}.relu2", [made])
        made = self.convolution(f"{name}.conv3", made, (channels, outward), 1, 1)
        if inward != outward:
            data = self.convolution(f"{name}.projection", data, (inward, outward), 1, stride)
        return self.node("Relu", f"{name}.relu3", [self.node("Add", f"{name}.add", [made, data])])

    def classifier(self, data: str, inward: int) -> None:
        """Mean over the field and one dense layer, which writes ``scores``."""
        flat = self.node("Flatten", "flatten", [self.node("GlobalAveragePool", "mean", [data])])
        bound = 1 / math.sqrt(inward)
        weight = self.tensor("dense.weight", self._chance.uniform(-bound, bound, (CLASSES, inward)))
        bias = self.tensor("dense.bias", np.zeros(CLASSES))
        self.nodes.append(helper.make_node("Gemm", [flat, weight, bias], ["scores"], name="dense", transB=1))


def build() -> bytes:
    """ONNX bytes (about 102 MB); input ``image`` [batch, 3, 224, 224] float32, output ``scores`` [batch, 1000]."""
    network = _Network()
    data = network.node("Relu", "stem.relu", [network.convolution("stem", "image", (3, 64), 7, 2)])
    data = network.node("MaxPool", "stem.pool", [data], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    inward = 64
    for stage, (blocks, channels, stride) in enumerate(STAGES, start=1):
        for place in range(blocks):
            name = f"stage{stage}.block{place + 1}"
            data = network.block(name, data, inward, channels, stride if place == 0 else 1)
            inward = 4 * channels
    network.classifier(data, inward)
    graph = helper.make_graph(
        network.nodes,
        "resnet50",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 224, 224])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", CLASSES])],
        network.weights,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="podium", ir_version=8
    )
    return bytes(model.SerializeToString(deterministic=True))
