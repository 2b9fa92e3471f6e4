"""A small ONNX file that the tests make themselves: a classifier of the digits."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PIXELS, CLASSES = 64, 10


def classifier(path: Path, *, hidden: int = 32, seed: int = 0) -> Path:
    """Flattened 8 x 8 digits -> ReLU layer -> ten scores. `seed` makes the bytes, and so the SHA-256, its own."""
    random = np.random.default_rng(seed)

    def weight(name: str, rows: int, columns: int) -> onnx.TensorProto:
        values = random.standard_normal((rows, columns)) / np.sqrt(rows)
        return numpy_helper.from_array(values.astype(np.float32), name)

    layers = [
        helper.make_node("MatMul", ["image", "w1"], ["a"], name="first"),
        helper.make_node("Add", ["a", "b1"], ["b"], name="first_bias"),
        helper.make_node("Relu", ["b"], ["c"], name="activation"),
        helper.make_node("MatMul", ["c", "w2"], ["d"], name="second"),
        helper.make_node("Add", ["d", "b2"], ["scores"], name="second_bias"),
    ]
    constants = [
        weight("w1", PIXELS, hidden),
        numpy_helper.from_array(np.zeros(hidden, np.float32), "b1"),
        weight("w2", hidden, CLASSES),
        numpy_helper.from_array(np.zeros(CLASSES, np.float32), "b2"),
    ]
    return _save(path, layers, ["batch", PIXELS], CLASSES, constants)


def _save(
    path: Path, layers: list[onnx.NodeProto], image: list[int | str], width: int, constants: list[onnx.TensorProto]
) -> Path:
    graph = helper.make_graph(
        layers,
        "tests",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, image)],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", width])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path
