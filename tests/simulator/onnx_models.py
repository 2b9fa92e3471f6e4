"""Small ONNX files made by hand for the tests of the simulator, and the folder of shared files where there is one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from simulator.numerics.placing import declared, placed
from simulator.program import Program

SHARED = Path(os.environ.get("PODIUM_SHARED", Path(__file__).parents[3] / "shared"))
Shape = Sequence[int | str | None]

# sizes of the open dimensions of shared models
DIMS = {
    "attacut-sc": {"seq_len": 12},
    "atspm-funcnet": {"T": 32},
    "brainmaze-seizure": {"time": 40},
    "caustic-painn": {"num_atoms": 5, "num_edges": 9, "num_residues": 2},
    "ddddocr-common": {"image_width": 96},
    "mtcnn-pnet": {"M1": 32, "M2": 40},
    "nsnet2-16k": {"frames": 8},
    "nsnet2-48k": {"time": 8},
    "nudenet-320n": {"height": 64, "width": 64},
    "oww-melspectrogram": {"samples": 1280},
    "plcmos-v2": {"frames": 30},
    "rapidocr-cls": {"x[2]": 48, "x[3]": 96},
    "rapidocr-det": {"p2o.DynamicDimension.1": 64, "p2o.DynamicDimension.2": 96},
    "rxnmap": {"seq_len": 9},
    "silero-vad": {"input[1]": 576, "state[1]": 1},
    "silero-vad-half": {"sequence": 576},
    "silero-vad-sequence": {"sequence_length": 7},
    "swift-f0": {"samples": 4096},
    "tashkeel-bilstm-int8": {"seq_len": 11},
    "traceforge-t5-encoder": {"encoder_sequence_length": 10},
}

needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="needs the folder of shared models: set PODIUM_SHARED to where it is"
)


def value(name: str, shape: Shape, dtype: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, dtype, list(shape))


def model(
    nodes: list[Any],
    inputs: list[Any],
    outputs: list[Any],
    weights: dict[str, np.ndarray] | None = None,
    opset: int = 17,
    domains: dict[str, int] | None = None,
) -> bytes:
    """Bytes of a model; weights become initialisers."""
    tensors = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "test", inputs, outputs, tensors)
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid(domain, version) for domain, version in (domains or {}).items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString()


def node(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> Any:
    return helper.make_node(op, inputs, outputs, **attributes)


def perceptron(features: int = 8, hidden: int = 16, classes: int = 4, *, softmax: bool = False) -> bytes:
    """Two dense layers over an open batch."""
    chance = np.random.default_rng(7)
    weights = {
        "w1": chance.normal(0, 0.3, (features, hidden)).astype(np.float32),
        "b1": np.zeros(hidden, np.float32),
        "w2": chance.normal(0, 0.3, (hidden, classes)).astype(np.float32),
        "b2": np.zeros(classes, np.float32),
    }
    nodes = [
        node("Gemm", ["x", "w1", "b1"], ["h"], name="first"),
        node("Relu", ["h"], ["a"], name="act"),
        node("Gemm", ["a", "w2", "b2"], ["scores"], name="second"),
    ]
    if softmax:
        nodes.append(node("Softmax", ["scores"], ["y"], name="classes", axis=-1))
    result = "y" if softmax else "scores"
    return model(nodes, [value("x", ["N", features])], [value(result, ["N", classes])], weights)


def normed_net() -> bytes:
    """Convolution, batch normalisation, pooling and a dense layer: for everything that needs running statistics."""
    chance = np.random.default_rng(3)
    weights = {
        "w": chance.normal(0, 0.4, (4, 1, 3, 3)).astype(np.float32),
        "scale": np.ones(4, np.float32),
        "shift": np.zeros(4, np.float32),
        "mean": np.zeros(4, np.float32),
        "variance": np.ones(4, np.float32),
        "dense": chance.normal(0, 0.4, (4, 10)).astype(np.float32),
    }
    nodes = [
        node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["n"], name="norm"),
        node("Relu", ["n"], ["r"], name="relu"),
        node("GlobalAveragePool", ["r"], ["p"], name="pool"),
        node("Flatten", ["p"], ["f"], name="flat"),
        node("MatMul", ["f", "dense"], ["y"], name="dense"),
    ]
    return model(nodes, [value("x", ["N", 1, 8, 8])], [value("y", ["N", 10])], weights)


def outputs_of(program: Program, inputs: dict[str, np.ndarray], precision: str = "fp32") -> dict[str, np.ndarray]:
    """Outputs for given inputs, in the types that the model declares."""
    weights = placed(program.load_weights(), precision)
    return declared(program, jax.jit(program.call)(weights, placed(inputs, precision)))
