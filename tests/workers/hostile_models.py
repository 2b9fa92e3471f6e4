"""Small ONNX files that ask for much: an endless loop, terabytes, a file of ours, a page instead of a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def _model(
    nodes: list[onnx.NodeProto], *, outputs: list[str], initialisers: list[onnx.TensorProto] | None = None
) -> bytes:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        initialisers or [],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def good() -> bytes:
    """y = x W, 4 to 3."""
    weight = numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    return _model([helper.make_node("MatMul", ["x", "w"], ["y"])], outputs=["y"], initialisers=[weight])


def endless_loop() -> bytes:
    """A loop whose condition stays true and whose trip count is the largest number there is."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["again"]), helper.make_node("Add", ["state", "state"], ["next"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, [1, 4]),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, [1, 4]),
        ],
    )
    trips = numpy_helper.from_array(np.array(2**62, np.int64), "trips")
    always = numpy_helper.from_array(np.array(True), "always")
    loop = helper.make_node("Loop", ["trips", "always", "x"], ["y"], body=body)
    return _model([loop], outputs=["y"], initialisers=[trips, always])


def four_terabytes() -> bytes:
    """A constant of 10^12 floats in a few bytes."""
    shape = numpy_helper.from_array(np.array([10**6, 10**6], np.int64), "shape")
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["big"]),
        helper.make_node("ReduceSum", ["big"], ["sum"], keepdims=0),
        helper.make_node("Add", ["x", "sum"], ["y"]),
    ]
    return _model(nodes, outputs=["y"], initialisers=[shape])


def four_gigabytes() -> bytes:
    """A constant of 4 GiB that would have to be computed while reading."""
    shape = numpy_helper.from_array(np.array([2**30], np.int64), "shape")
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["big"]),
        helper.make_node("CumSum", ["big", "axis"], ["sums"]),
        helper.make_node("Gather", ["sums", "axis"], ["one"]),
        helper.make_node("Add", ["x", "one"], ["y"]),
    ]
    axis = numpy_helper.from_array(np.array(0, np.int64), "axis")
    return _model(nodes, outputs=["y"], initialisers=[shape, axis])


def someone_elses_file() -> bytes:
    """A weight that is said to lie in /etc/passwd."""
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 3], data_location=TensorProto.EXTERNAL)
    weight.external_data.add(key="location", value="../../../../../../etc/passwd")
    return _model([helper.make_node("MatMul", ["x", "w"], ["y"])], outputs=["y"], initialisers=[weight])


def web_page() -> bytes:
    return b"<!DOCTYPE html><html><body>404 Not Found</body></html>"


# what must come of each: accepted, refused with such a code, or either (the model is legal, if greedy)
EXPECTED: dict[str, tuple[Callable[[], bytes], str]] = {
    "good": (good, "accepted"),
    "endless loop": (endless_loop, "either"),
    "four terabytes": (four_terabytes, "refused"),
    "four gigabytes": (four_gigabytes, "either"),
    "someone else's file": (someone_elses_file, "refused"),
    "a web page": (web_page, "refused"),
}
