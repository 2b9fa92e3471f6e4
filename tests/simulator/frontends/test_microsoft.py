"""Operators of com.microsoft against onnxruntime, which defines them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper

from simulator.frontends.onnx.importer import load
from tests.simulator.onnx_models import model, outputs_of, value

onnxruntime = pytest.importorskip("onnxruntime", reason="compares with onnxruntime, which is not installed")

MS = "com.microsoft"
N, TIME, HEADS, SIZE = 2, 5, 2, 16
WIDTH = HEADS * SIZE
CHANCE = np.random.default_rng(4)


def _floats(*shape: int, scale: float = 0.5) -> np.ndarray:
    return CHANCE.normal(0, scale, shape).astype(np.float32)


def _bytes(*shape: int, dtype: Any = np.uint8) -> np.ndarray:
    bounds = np.iinfo(dtype)
    return CHANCE.integers(bounds.min, bounds.max, shape, endpoint=True).astype(dtype)


def _one(x: float, dtype: Any = np.float32) -> np.ndarray:
    return np.array(x, dtype)


MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
LENGTHS = np.array([3, 5], np.int32)
TURNS = np.linspace(0, 2, 16 * SIZE // 2).reshape(16, SIZE // 2)
COS, SIN = np.cos(TURNS).astype(np.float32), np.sin(TURNS).astype(np.float32)
X = _floats(N, TIME, WIDTH)
PROJECTION = {"x": X, "w": _floats(WIDTH, 3 * WIDTH), "b": _floats(3 * WIDTH)}
QKV = {"q": X, "k": _floats(N, TIME, WIDTH), "v": _floats(N, TIME, WIDTH)}
PAST = {"pk": _floats(N, HEADS, 3, SIZE), "pv": _floats(N, HEADS, 3, SIZE)}
LSTM8 = {
    "x": _floats(TIME, N, 6), "w": _bytes(1, 6, 16, dtype=np.int8), "r": _bytes(1, 4, 16, dtype=np.int8),
    "b": _floats(1, 32), "": np.empty(0), "ws": np.float32([0.01]), "wz": np.array([0], np.int8),
    "rs": np.float32([0.02]), "rz": np.array([0], np.int8),
}  # fmt: skip
Case = tuple[str, dict[str, np.ndarray], list[str], dict[str, Any], int]

# name -> operator, tensors, inputs in order, attributes, outputs; "x", "q", "ids" are inputs of the model
CASES: dict[str, Case] = {
    "gelu": ("Gelu", {"x": X}, ["x"], {}, 1),
    "bias gelu": ("BiasGelu", {"x": X, "b": _floats(WIDTH)}, ["x", "b"], {}, 1),
    "fast gelu": ("FastGelu", {"x": X, "b": _floats(WIDTH)}, ["x", "b"], {}, 1),
    "quick gelu": ("QuickGelu", {"x": X}, ["x"], {"alpha": 1.5}, 1),
    "skip layer norm": (
        "SkipLayerNormalization",
        {"x": X, "s": _floats(N, TIME, WIDTH), "g": _floats(WIDTH), "h": _floats(WIDTH), "b": _floats(WIDTH)},
        ["x", "s", "g", "h", "b"], {"epsilon": 1e-5}, 1,
    ),
    "skip simplified norm": (
        "SkipSimplifiedLayerNormalization",
        {"x": X, "s": _floats(N, TIME, WIDTH), "g": _floats(WIDTH)}, ["x", "s", "g"], {"epsilon": 1e-5}, 1,
    ),
    "attention": ("Attention", PROJECTION, ["x", "w", "b"], {"num_heads": HEADS}, 1),
    "attention, masked": (
        "Attention", {**PROJECTION, "m": MASK}, ["x", "w", "b", "m"], {"num_heads": HEADS}, 1,
    ),
    "attention, lengths": (
        "Attention", {**PROJECTION, "m": LENGTHS}, ["x", "w", "b", "m"], {"num_heads": HEADS}, 1,
    ),
    "attention, causal": (
        "Attention", PROJECTION, ["x", "w", "b"], {"num_heads": HEADS, "unidirectional": 1}, 1,
    ),
    "attention, past": (
        "Attention", {**PROJECTION, "p": _floats(2, N, HEADS, 3, SIZE)}, ["x", "w", "b", "", "p"],
        {"num_heads": HEADS, "unidirectional": 1}, 2,
    ),
    "multi head": ("MultiHeadAttention", QKV, ["q", "k", "v"], {"num_heads": HEADS, "scale": 0.2}, 1),
    "multi head, masked": (
        "MultiHeadAttention", {**QKV, "b": _floats(3 * WIDTH), "m": MASK}, ["q", "k", "v", "b", "m"],
        {"num_heads": HEADS}, 1,
    ),
    "multi head, past": (
        "MultiHeadAttention", {**QKV, **PAST}, ["q", "k", "v", "", "", "", "pk", "pv"], {"num_heads": HEADS}, 3,
    ),
    "group query": (
        "GroupQueryAttention",
        {"q": X, "k": _floats(N, TIME, SIZE), "v": _floats(N, TIME, SIZE), "l": np.array([4, 4], np.int32),
         "t": _one(5, np.int32), "c": COS, "s": SIN},
        ["q", "k", "v", "", "", "l", "t", "c", "s"], {"num_heads": HEADS, "kv_num_heads": 1, "do_rotary": 1}, 3,
    ),
    "rotary": (
        "RotaryEmbedding", {"x": X, "p": np.arange(N * TIME).reshape(N, TIME), "c": COS, "s": SIN},
        ["x", "p", "c", "s"], {"interleaved": 1}, 1,
    ),
    "fused product": (
        "FusedMatMul", {"x": X, "w": _floats(7, WIDTH)}, ["x", "w"], {"alpha": 0.3, "transB": 1}, 1,
    ),
    "fused convolution": (
        "FusedConv", {"x": _floats(1, 3, 8, 8), "w": _floats(4, 3, 3, 3), "b": _floats(4)}, ["x", "w", "b"],
        {"activation": "LeakyRelu", "activation_params": [0.2], "pads": [1, 1, 1, 1]}, 1,
    ),
    "fused gemm": (
        "FusedGemm", {"x": _floats(4, 6), "w": _floats(5, 6), "c": _floats(5)}, ["x", "w", "c"],
        {"activation": "Relu", "transB": 1}, 1,
    ),
    "dynamic product": (
        "DynamicQuantizeMatMul",
        {"x": X, "w": _bytes(WIDTH, 6, dtype=np.int8), "s": _one(0.02), "z": _one(3, np.int8), "b": _floats(6)},
        ["x", "w", "s", "z", "b"], {}, 1,
    ),
    "integer product to float": (
        "MatMulIntegerToFloat",
        {"x": _bytes(4, 6), "w": _bytes(6, 5, dtype=np.int8), "s": _one(0.1), "u": _one(0.02), "y": _one(120, np.uint8),
         "z": _one(0, np.int8)},
        ["x", "w", "s", "u", "y", "z"], {}, 1,
    ),
    "blocks of 4 bits": (
        "MatMulNBits",
        {"x": _floats(3, 40), "w": _bytes(6, 2, 16), "s": np.abs(_floats(12)), "z": _bytes(6)},
        ["x", "w", "s", "z"], {"K": 40, "N": 6, "bits": 4, "block_size": 32}, 1,
    ),
    "quantised sum": (
        "QLinearAdd",
        {"x": _bytes(4, 6), "a": _one(0.1), "m": _one(100, np.uint8), "w": _bytes(4, 6), "b": _one(0.05),
         "n": _one(90, np.uint8), "c": _one(0.12), "o": _one(110, np.uint8)},
        ["x", "a", "m", "w", "b", "n", "c", "o"], {}, 1,
    ),
    "quantised pool": (
        "QLinearGlobalAveragePool",
        {"x": _bytes(1, 3, 6, 6), "a": _one(0.1), "m": _one(100, np.uint8), "c": _one(0.05), "o": _one(110, np.uint8)},
        ["x", "a", "m", "c", "o"], {}, 1,
    ),
    "quantised join": (
        "QLinearConcat",
        {"c": _one(0.12), "o": _one(110, np.uint8), "x": _bytes(2, 3), "a": _one(0.1), "m": _one(100, np.uint8),
         "w": _bytes(2, 4), "b": _one(0.05), "n": _one(90, np.uint8)},
        ["c", "o", "x", "a", "m", "w", "b", "n"], {"axis": 1}, 1,
    ),
    "embeddings": (
        "EmbedLayerNormalization",
        {"ids": CHANCE.integers(0, 9, (N, TIME)).astype(np.int32), "seg": np.zeros((N, TIME), np.int32),
         "we": _floats(9, WIDTH), "pe": _floats(12, WIDTH), "se": _floats(2, WIDTH), "g": _floats(WIDTH),
         "h": _floats(WIDTH), "m": MASK},
        ["ids", "seg", "we", "pe", "se", "g", "h", "m"], {}, 2,
    ),
    "LSTM of 8 bits": (
        "DynamicQuantizeLSTM", LSTM8, ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"],
        {"hidden_size": 4}, 1,
    ),
}  # fmt: skip
LOOSE = {"LSTM of 8 bits": 0.01, "dynamic product": 1e-3}


def _session(name: str) -> tuple[bytes, dict[str, np.ndarray]]:
    operator, tensors, order, attributes, count = CASES[name]
    fed = next(n for n in ("x", "q", "ids") if n in tensors)
    outputs = [f"y{i}" for i in range(count)]
    nodes = [helper.make_node(operator, order, outputs, domain=MS, name="it", **attributes)]
    first = tensors[fed]
    kind = helper.np_dtype_to_tensor_dtype(first.dtype)
    weights = {n: v for n, v in tensors.items() if n not in (fed, "")}
    data = model(
        nodes, [value(fed, first.shape, kind)], [helper.make_empty_tensor_value_info(o) for o in outputs], weights,
        domains={MS: 1},
    )  # fmt: skip
    return data, {fed: first}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_onnxruntime(name: str) -> None:
    data, inputs = _session(name)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    expected = session.run(None, inputs)
    program = load(data, name="m", batch=next(iter(inputs.values())).shape[0])
    found = outputs_of(program, inputs)
    for port, reference in zip(session.get_outputs(), expected, strict=True):
        if reference.dtype.kind in "iu" and reference.dtype.itemsize == 1:  # a level may round the other way
            assert np.abs(found[port.name].astype(int) - reference.astype(int)).max() <= 1
        else:
            tolerance = LOOSE.get(name, 1e-4)
            np.testing.assert_allclose(found[port.name], reference, rtol=tolerance, atol=tolerance)
