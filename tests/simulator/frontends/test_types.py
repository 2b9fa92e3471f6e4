"""Floats of a run are of one precision, whatever the file's own constants are; sequences pass through a trace."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from simulator.config import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.trace import trace
from tests.simulator.onnx_models import model, node, outputs_of, value

MASK = [node("Greater", ["x", "zero"], ["seen"]), node("Where", ["seen", "open", "shut"], ["mask"])]
CONSTANTS = {"zero": np.array(0, np.int32), "open": np.array(0, np.float32), "shut": np.array(-1e4, np.float32)}
X = value("x", [4, 4], TensorProto.INT32)


def test_a_mask_made_of_constants_has_the_precision_of_the_run() -> None:
    """Nothing that Where reads is computed in floats: its constants alone decide, and they follow the weights."""
    weights = {**CONSTANTS, "w": np.ones((4, 4), np.float32)}
    data = model([*MASK, node("Add", ["mask", "w"], ["y"])], [X], [value("y", [4, 4])], weights)
    for precision, dtype in (("fp16", "float16"), ("fp32", "float32")):
        graph = trace(load(data, name="m", batch=4), RunConfig(task="infer", batch=4, precision=precision))
        made = {graph.tensors.dtype[t] for row in graph.ops.outputs for t in row}
        assert made == {"bool", dtype}


def test_sequences_inside_of_a_model_are_lists_of_the_trace() -> None:
    nodes = [*MASK, node("SplitToSequence", ["mask"], ["parts"], axis=0), node("SequenceAt", ["parts", "third"], ["y"])]
    data = model(nodes, [X], [value("y", [1, 4])], {**CONSTANTS, "third": np.array(2, np.int64)})
    x = np.zeros((4, 4), np.int32)
    x[2, 1] = 1
    found = outputs_of(load(data, name="m", batch=4), {"x": x})["y"]
    assert found.tolist() == [[-1e4, 0.0, -1e4, -1e4]]
