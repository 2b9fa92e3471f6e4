"""A traced LSTM: a product and a cell a step, one product over all steps for its weights, PopLibs' saved tensors."""

from __future__ import annotations

import numpy as np

from simulator.config import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Graph, Kind, Pass
from simulator.graph.trace import trace
from tests.simulator.onnx_models import model, node, value

TIME, BATCH, INWARD, HIDDEN = 7, 4, 6, 5


def lstm(task: str, **attributes: object) -> Graph:
    chance = np.random.default_rng(0)
    shapes = {"w": (1, 4 * HIDDEN, INWARD), "r": (1, 4 * HIDDEN, HIDDEN), "b": (1, 8 * HIDDEN)}
    weights = {n: chance.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    nodes = [
        node("Transpose", ["x"], ["turned"], perm=[1, 0, 2]),
        node("LSTM", ["turned", "w", "r", "b"], ["", "last"], name="cell", hidden_size=HIDDEN, **attributes),
        node("Squeeze", ["last", "axis"], ["y"]),
    ]
    weights["axis"] = np.array([0], dtype=np.int64)
    data = model(nodes, [value("x", ["batch", TIME, INWARD])], [value("y", ["batch", HIDDEN])], weights)
    return trace(load(data, name="lstm", batch=BATCH), RunConfig(task=task, batch=BATCH))


def _of(graph: Graph, kind: Kind, pass_: Pass) -> list[int]:
    rows = range(len(graph.ops))
    return [i for i in rows if graph.ops.kind[i] == kind and graph.ops.pass_[i] == pass_]


def test_each_step_is_one_product_and_one_cell() -> None:
    graph = lstm("infer")
    assert [int(graph.ops.repeats[i]) for i in _of(graph, Kind.MATMUL, Pass.FORWARD)] == [1, TIME]
    assert [int(graph.ops.repeats[i]) for i in _of(graph, Kind.CELL, Pass.FORWARD)] == [TIME]


def test_gradients_of_weights_are_products_over_all_steps() -> None:
    graph = lstm("train")
    products = _of(graph, Kind.MATMUL, Pass.BACKWARD)
    assert [i for i in products if graph.ops.repeats[i] == TIME] == products[:1]  # slope of the state alone
    sizes = [graph.ops.attributes[i]["k"] for i in products[1:]]
    assert sorted(sizes) == [BATCH, (TIME - 1) * BATCH, TIME * BATCH]


def test_saved_for_backward_are_gates_reach_and_what_the_step_began_with() -> None:
    graph = lstm("train")
    (cell,) = _of(graph, Kind.CELL, Pass.BACKWARD)
    read = {graph.tensors.root(t) for t in graph.ops.inputs[cell]}
    kept = sorted(int(graph.tensors.bytes[t]) for t in read if graph.tensors.shape[t][:1] == (TIME,))
    state = TIME * BATCH * HIDDEN * 4
    assert kept[-1] == 4 * state  # the gates
    assert kept.count(state) >= 2  # tanh of the memory, and the memory before


def test_other_activations_stay_a_loop_of_primitives() -> None:
    graph = lstm("infer", activations=["HardSigmoid", "Tanh", "Tanh"])
    assert _of(graph, Kind.CELL, Pass.FORWARD) == []
