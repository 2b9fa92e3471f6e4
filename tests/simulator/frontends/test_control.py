"""If and Loop against onnxruntime, and loops that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Kind
from simulator.graph.trace import trace
from tests.simulator.onnx_models import model, node, outputs_of, value

onnxruntime = pytest.importorskip("onnxruntime", reason="compares with onnxruntime, which is not installed")

LIMIT = np.array(6.0, np.float32)


def _body(*, early: bool) -> Any:
    """s = tanh(s @ w) + 1, collected when it cannot end early; else it ends when its first element passes a limit."""
    nodes = [
        node("MatMul", ["s", "w"], ["m"], name="product"),
        node("Tanh", ["m"], ["t"], name="squash"),
        node("Add", ["t", "s"], ["s_out"], name="more"),
    ]
    outputs = [value("go_out", [], TensorProto.BOOL), value("s_out", [2, 3])]
    if early:
        nodes += [node("ReduceMax", ["s_out"], ["top"], keepdims=0), node("Less", ["top", "limit"], ["go_out"])]
    else:
        nodes += [node("Identity", ["go"], ["go_out"]), node("Mul", ["s_out", "s_out"], ["square"])]
        outputs.append(value("square", [2, 3]))
    inputs = [value("i", [], TensorProto.INT64), value("go", [], TensorProto.BOOL), value("s", [2, 3])]
    return helper.make_graph(nodes, "body", inputs, outputs)


def _loop(trips: int, *, early: bool) -> bytes:
    outputs = ["y"] if early else ["y", "all"]
    nodes = [node("Loop", ["trips", "", "x"], outputs, name="loop", body=_body(early=early))]
    weights = {
        "trips": np.array(trips, np.int64),
        "w": np.random.default_rng(0).normal(size=(3, 3)).astype(np.float32),
        "limit": LIMIT,
    }
    ports = [value("y", [2, 3])] + ([] if early else [value("all", [trips, 2, 3])])
    return model(nodes, [value("x", [2, 3])], ports, weights)


@pytest.mark.parametrize("early", [False, True])
def test_loops_agree_with_onnxruntime(early: bool) -> None:
    data = _loop(9, early=early)
    x = np.full((2, 3), 0.4, np.float32)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = outputs_of(load(data, name="m", batch=2), {"x": x})
    for port, expected in zip(session.get_outputs(), session.run(None, {"x": x}), strict=True):
        np.testing.assert_allclose(found[port.name], expected, rtol=1e-5)


def test_a_loop_is_counted_not_unrolled() -> None:
    graph = trace(load(_loop(1000, early=False), name="m", batch=2), RunConfig(task="infer", batch=2))
    products = [i for i in range(len(graph.ops)) if graph.ops.kind[i] == Kind.MATMUL]
    assert [int(graph.ops.repeats[i]) for i in products] == [1000]
    assert graph.ops.source[products[0]] == "product"


def test_an_endless_loop_asks_for_its_trips_and_takes_them_by_name() -> None:
    with pytest.raises(SimulatorError, match="loop.trips=16") as caught:
        load(_loop(2**63 - 1, early=True), name="m", batch=2)
    assert caught.value.code == "model.needs_dims"
    assert caught.value.params["dims"] == ["loop.trips"]
    x = {"x": np.full((2, 3), 0.4, np.float32)}
    given = load(_loop(2**63 - 1, early=True), name="m", batch=2, dims={"loop.trips": 9})
    stated = load(_loop(9, early=True), name="m", batch=2)
    np.testing.assert_array_equal(outputs_of(given, x)["y"], outputs_of(stated, x)["y"])


def test_too_many_trips_are_refused() -> None:
    with pytest.raises(SimulatorError, match="may run 1099511627776 times") as caught:
        load(_loop(2**40, early=True), name="m", batch=2)
    assert caught.value.code == "model.invalid_node"


def test_scan_agrees_with_onnxruntime() -> None:
    """Running sums and their products with the slice, the second input read backwards along its last axis."""
    body = helper.make_graph(
        [node("Add", ["s", "a"], ["s_out"]), node("Mul", ["s_out", "b"], ["p"])],
        "body",
        [value("s", [3]), value("a", [3]), value("b", [3])],
        [value("s_out", [3]), value("p", [3])],
    )
    scan = node(
        "Scan", ["s0", "x", "w"], ["y", "all"], name="scan", body=body, num_scan_inputs=2,
        scan_input_axes=[0, 1], scan_input_directions=[0, 1], scan_output_axes=[1],
    )  # fmt: skip
    chance = np.random.default_rng(1)
    weights = {"s0": np.zeros(3, np.float32), "w": chance.normal(size=(3, 4)).astype(np.float32)}
    data = model([scan], [value("x", [4, 3])], [value("y", [3]), value("all", [3, 4])], weights)
    x = chance.normal(size=(4, 3)).astype(np.float32)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = outputs_of(load(data, name="m", batch=4), {"x": x})
    for port, expected in zip(session.get_outputs(), session.run(None, {"x": x}), strict=True):
        np.testing.assert_allclose(found[port.name], expected, rtol=1e-5)


def test_a_condition_known_from_shapes_picks_its_branch() -> None:
    def branch(op: str) -> Any:
        return helper.make_graph([node(op, ["x"], [f"{op}_out"])], op, [], [value(f"{op}_out", ["N", 2])])

    nodes = [
        node("Size", ["x"], ["size"]),
        node("Greater", ["size", "limit"], ["many"]),
        node("If", ["many"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs")),
    ]
    data = model(nodes, [value("x", ["N", 2])], [value("y", ["N", 2])], {"limit": np.array(6, np.int64)})
    for batch, expected in ((2, 1.0), (5, -1.0)):
        found = outputs_of(load(data, name="m", batch=batch), {"x": np.ones((batch, 2), np.float32)})
        assert set(found["y"].reshape(-1).tolist()) == {expected}


def test_a_condition_computed_from_inputs_is_decided_at_run_time() -> None:
    def branch(op: str) -> Any:
        return helper.make_graph([node(op, ["x"], [f"{op}_out"])], op, [], [value(f"{op}_out", [2])])

    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "zero"], ["positive"]),
        node("If", ["positive"], ["y"], then_branch=branch("Neg"), else_branch=branch("Abs")),
    ]
    data = model(nodes, [value("x", [2])], [value("y", [2])], {"zero": np.array(0, np.float32)})
    program = load(data, name="m", batch=2)
    assert outputs_of(program, {"x": np.array([1, 2], np.float32)})["y"].tolist() == [-1, -2]
    assert outputs_of(program, {"x": np.array([-1, -2], np.float32)})["y"].tolist() == [1, 2]


def _branching(wide: int) -> bytes:
    """A choice that the input makes between two products; the second fits rows of ``wide`` numbers alone."""
    branches = {
        f"{name}_branch": helper.make_graph(
            [node("MatMul", ["x", weight], [f"{name}.out"], name=name)], name, [], [value(f"{name}.out", [2, 3])]
        )
        for name, weight in (("then", "narrow"), ("else", "other"))
    }
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Greater", ["sum", "limit"], ["more"]),
        node("If", ["more"], ["y"], name="choice", **branches),
    ]
    weights = {"narrow": np.eye(3, dtype=np.float32), "other": np.ones((wide, 3), np.float32), "limit": LIMIT}
    return model(nodes, [value("x", [2, 3])], [value("y", [2, 3])], weights)


@pytest.mark.parametrize("first", [0.1, 9.0])
def test_a_branch_that_fits_no_shape_leaves_the_other(first: float) -> None:
    program = load(_branching(5), name="m", batch=2)
    x = np.full((2, 3), first, np.float32)
    np.testing.assert_allclose(outputs_of(program, {"x": x})["y"], x)
    assert [code for code, _ in program.notes if code == "model.branch_left_out"]
    both = load(_branching(3), name="m", batch=2)
    assert not [code for code, _ in both.notes if code == "model.branch_left_out"]
    expected = x if first > 1 else x @ np.ones((3, 3), np.float32)
    np.testing.assert_allclose(outputs_of(both, {"x": x})["y"], expected, rtol=1e-6)
