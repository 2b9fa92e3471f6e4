"""Tree ensembles of ai.onnx.ml before version 5 against onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from simulator.frontends.onnx.importer import load
from tests.simulator.onnx_models import model, outputs_of, value

onnxruntime = pytest.importorskip("onnxruntime", reason="compares with onnxruntime, which is not installed")

ML = "ai.onnx.ml"
# two trees over three features, and one that is a single leaf
TREE: dict[str, Any] = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1, 2],
    "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2, 0],
    "nodes_featureids": [0, 1, 0, 0, 0, 2, 0, 0, 0],
    "nodes_values": [0.1, -0.2, 0, 0, 0, 0.3, 0, 0, 0],
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_GT", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 3, 0, 0, 0, 1, 0, 0, 0],
    "nodes_falsenodeids": [2, 4, 0, 0, 0, 2, 0, 0, 0],
    "nodes_missing_value_tracks_true": [1, 0, 0, 0, 0, 1, 0, 0, 0],
}
LEAVES = ([0, 0, 0, 1, 1, 2], [2, 3, 4, 1, 2, 0])
WEIGHTS = [0.5, -1.0, 0.25, 2.0, -0.5, 0.125]
X = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
X[3, 0] = np.nan


def _weights(kind: str, columns: list[int], weights: list[float] = WEIGHTS) -> dict[str, Any]:
    rows = {"treeids": LEAVES[0], "nodeids": LEAVES[1], "ids": columns, "weights": weights}
    return {f"{kind}_{name}": listed for name, listed in rows.items()}


CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "sum": ("TreeEnsembleRegressor", {**_weights("target", [0] * 6), "n_targets": 1, "base_values": [0.75]}),
    "mean of two": (
        "TreeEnsembleRegressor",
        {**_weights("target", [0, 1, 0, 1, 0, 1]), "n_targets": 2, "aggregate_function": "AVERAGE"},
    ),
    "greatest": ("TreeEnsembleRegressor", {**_weights("target", [0] * 6), "n_targets": 1, "aggregate_function": "MAX"}),
    "three classes": (
        "TreeEnsembleClassifier",
        {**_weights("class", [0, 1, 2, 1, 2, 0]), "classlabels_int64s": [5, 6, 9], "post_transform": "SOFTMAX"},
    ),
    "two by one score": ("TreeEnsembleClassifier", {**_weights("class", [0] * 6), "classlabels_int64s": [3, 4]}),
    "two by one logistic score": (
        "TreeEnsembleClassifier",
        {**_weights("class", [0] * 6), "classlabels_int64s": [0, 1], "post_transform": "LOGISTIC"},
    ),
    "two by one positive score": (
        "TreeEnsembleClassifier",
        {**_weights("class", [0] * 6, [abs(w) / 5 for w in WEIGHTS]), "classlabels_int64s": [0, 1]},
    ),
    "two by the second's score": (
        "TreeEnsembleClassifier",
        {**_weights("class", [1] * 6, [abs(w) / 5 for w in WEIGHTS]), "classlabels_int64s": [0, 1]},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_onnxruntime(name: str) -> None:
    operator, attributes = CASES[name]
    classes = operator.endswith("Classifier")
    outputs = ["label", "scores"] if classes else ["y"]
    made = helper.make_node(operator, ["x"], outputs, domain=ML, **TREE, **attributes)
    ports = [value("label", ["N"], TensorProto.INT64), value("scores", ["N", None])] if classes else [
        value("y", ["N", attributes.get("n_targets", 1)])
    ]  # fmt: skip
    data = model([made], [value("x", ["N", 3])], ports, domains={ML: 3})
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = outputs_of(load(data, name="m", batch=len(X)), {"x": X})
    for port, expected in zip(session.get_outputs(), session.run(None, {"x": X}), strict=True):
        np.testing.assert_allclose(found[port.name], expected, rtol=1e-5, atol=1e-6)
