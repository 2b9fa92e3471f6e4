"""zoo:mnist: conv 3x3 to 32, pool, conv 3x3 to 64, pool, dense to 128, dense to 10. Weights come from a fixed seed.

The shapes are those of Graphcore's PyTorch MNIST example for IPUs, without its dropout.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

SEED = 20_261_101
OPSET = 17
SHAPES: dict[str, tuple[int, ...]] = {
    "conv1.weight": (32, 1, 3, 3),
    "conv2.weight": (64, 32, 3, 3),
    "dense1.weight": (128, 1600),
    "dense2.weight": (10, 128),
}


def build() -> bytes:
    """ONNX bytes; input ``image`` [batch, 1, 28, 28] float32, output ``scores`` [batch, 10]."""
    graph = helper.make_graph(
        _nodes(),
        "mnist",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])],
        _weights(),
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="podium", ir_version=8
    )
    checker.check_model(model)
    return bytes(model.SerializeToString(deterministic=True))


def _nodes() -> list[Any]:
    def node(op: str, inputs: list[str], output: str, name: str, **attributes: Any) -> Any:
        return helper.make_node(op, inputs, [output], name=name, **attributes)

    nodes, previous = [], "image"
    for layer in ("conv1", "conv2"):
        nodes += [
            node("Conv", [previous, f"{layer}.weight", f"{layer}.bias"], f"{layer}.out", layer, kernel_shape=[3, 3]),
            node("MaxPool", [f"{layer}.out"], f"{layer}.pool", f"{layer}.pool", kernel_shape=[2, 2], strides=[2, 2]),
            node("Relu", [f"{layer}.pool"], f"{layer}.act", f"{layer}.relu"),
        ]
        previous = f"{layer}.act"
    return [
        *nodes,
        node("Flatten", [previous], "flat", "flatten"),
        node("Gemm", ["flat", "dense1.weight", "dense1.bias"], "dense1.out", "dense1", transB=1),
        node("Relu", ["dense1.out"], "dense1.act", "dense1.relu"),
        node("Gemm", ["dense1.act", "dense2.weight", "dense2.bias"], "scores", "dense2", transB=1),
    ]


def _weights() -> list[Any]:
    """Uniform within 1 / sqrt(fan in), as PyTorch's layers start."""
    chance = np.random.default_rng(SEED)
    tensors = []
    for name, shape in SHAPES.items():
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        bias = name.replace("weight", "bias")
        for key, size in ((name, shape), (bias, shape[:1])):
            values = chance.uniform(-bound, bound, size).astype(np.float32)
            tensors.append(numpy_helper.from_array(values, key))
    return tensors
