"""The summary of an accepted model, and refusals of files made here."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from simulator import SimulatorError, build_zoo, inspect
from tests.simulator.onnx_models import SHARED, model, needs_shared, node, normed_net, perceptron, value


def _file(folder: Path, data: bytes) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(data)
    return path


def _refusal(folder: Path, data: bytes) -> SimulatorError:
    with pytest.raises(SimulatorError) as caught:
        inspect(_file(folder, data))
    return caught.value


def test_summary_of_the_zoo_model(tmp_path: Path) -> None:
    found = inspect(_file(tmp_path, build_zoo("zoo:mnist"))).to_dict()
    json.dumps(found)
    assert found["parameters"] == 225_034
    assert found["parameter_bytes"] == 4 * 225_034
    assert found["inputs"] == [{"name": "image", "dtype": "float32", "shape": ["batch", 1, 28, 28]}]
    assert found["symbolic_dims"] == []
    assert found["batch_dims"] == ["batch"]
    assert found["trainable"] is True
    assert found["unsupported"] == []
    assert {row["op"]: row["count"] for row in found["operators"]}["Conv"] == 2


def test_all_unsupported_operators_are_listed_at_once(tmp_path: Path) -> None:
    nodes = [node("Conjure", ["x"], ["d"], name="one"), node("Magic", ["x"], ["m"], name="two", domain="my.own")]
    data = model(nodes, [value("x", [2, 3, 3])], [value("d", [2])], domains={"my.own": 1})
    found = inspect(_file(tmp_path, data)).to_dict()
    assert [(row["domain"], row["op"], row["nodes"]) for row in found["unsupported"]] == [
        ("ai.onnx", "Conjure", ["one"]),
        ("my.own", "Magic", ["two"]),
    ]
    assert found["trainable"] is False


def test_open_dimensions_are_asked_for(tmp_path: Path) -> None:
    data = model([node("Relu", ["x"], ["y"])], [value("x", ["N", "T", None])], [value("y", ["N", "T", None])])
    found = inspect(_file(tmp_path, data)).to_dict()
    assert found["symbolic_dims"] == ["T", "x[2]"]
    assert found["batch_dims"] == ["N"]


def test_a_sequence_in_front_is_not_taken_for_the_batch(tmp_path: Path) -> None:
    data = model([node("Relu", ["x"], ["y"])], [value("x", ["seq_len", 4])], [value("y", ["seq_len", 4])])
    assert inspect(_file(tmp_path, data)).to_dict()["symbolic_dims"] == ["seq_len"]


def test_an_output_declared_wrongly_is_told(tmp_path: Path) -> None:
    data = model([node("Relu", ["x"], ["y"])], [value("x", ["N", 4])], [value("y", ["N", 7])])
    codes = [w["code"] for w in inspect(_file(tmp_path, data)).to_dict()["warnings"]]
    assert "model.output_shape_differs" in codes


def test_truncation_is_noticed(tmp_path: Path) -> None:
    data = perceptron()
    for cut in (len(data) // 3, len(data) - 5):
        assert _refusal(tmp_path, data[:cut]).code.startswith("model.")


def test_every_single_flipped_byte_is_answered_not_crashed(tmp_path: Path) -> None:
    data = perceptron(3, 2, 2)
    chance = np.random.default_rng(0)
    for position in chance.integers(0, len(data), 150):
        broken = bytearray(data)
        broken[position] ^= 1 << int(chance.integers(0, 8))
        with contextlib.suppress(SimulatorError):  # any other exception fails the test
            inspect(_file(tmp_path, bytes(broken)))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SimulatorError, match="no such model"):
        inspect(tmp_path / "none.onnx")


def test_depth_is_limited_in_subgraphs(tmp_path: Path) -> None:
    inner = helper.make_graph([node("Identity", ["x"], ["deep"])], "g", [], [value("deep", [1])])
    for level in range(20):
        nodes = [helper.make_node("If", ["c"], [f"y{level}"], then_branch=inner, else_branch=inner)]
        inner = helper.make_graph(nodes, "g", [], [value(f"y{level}", [1])])
        if len(inner.SerializeToString()) > 1 << 16:
            break
    data = model(
        list(inner.node), [value("c", [], TensorProto.BOOL), value("x", [1])], [value(inner.output[0].name, [1])]
    )
    found = _refusal(tmp_path, data) if level > 16 else None
    assert found is None or found.code == "model.too_large"


def test_a_fill_of_four_gigabytes_is_not_made_to_look_at_it(tmp_path: Path) -> None:
    shape = {"shape": np.array([1024, 1024, 1024], np.int64)}
    nodes = [
        node("ConstantOfShape", ["shape"], ["big"]),
        node("ReduceSum", ["big"], ["s"]),
        node("Add", ["x", "s"], ["y"]),
    ]
    data = model(nodes, [value("x", ["N", 1, 1])], [value("y", ["N", 1, 1])], shape)
    assert inspect(_file(tmp_path, data)).to_dict()["parameters"] == 1 << 30


def test_running_statistics_are_not_trained(tmp_path: Path) -> None:
    found = inspect(_file(tmp_path, normed_net())).to_dict()
    assert found["trainable"] is True
    assert found["batch"] is None


@needs_shared
@pytest.mark.parametrize("path", sorted((SHARED / "models").glob("*.onnx")), ids=lambda p: p.stem)
def test_real_models_are_accepted_whole(path: Path) -> None:
    found = inspect(path).to_dict()
    json.dumps(found)
    assert found["unsupported"] == []
