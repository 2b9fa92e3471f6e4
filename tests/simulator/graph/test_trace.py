"""From Program to Graph: passes, sources, roles, loops, fusion, and work that can be counted by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.frameworks.catalogue import frameworks
from simulator.frontends.onnx.importer import load
from simulator.graph.builder import GraphBuilder
from simulator.graph.classify import Aval, elementwise
from simulator.graph.fuse import fuse
from simulator.graph.graph import Graph, Kind, Pass, Role, check
from simulator.graph.trace import trace
from simulator.zoo.opening import build_zoo
from tests.simulator.onnx_models import DIMS, SHARED, model, needs_shared, node, normed_net, perceptron, value


def _graph(data: bytes, **settings: object) -> Graph:
    config = RunConfig.from_dict({"batch": 16, **settings})
    return trace(load(data, name="m", batch=config.batch, dims=config.dims), config)


def _rows(graph: Graph, kind: Kind, pass_: Pass | None = None) -> list[int]:
    return [
        i for i in range(len(graph.ops)) if graph.ops.kind[i] == kind and (pass_ is None or graph.ops.pass_[i] == pass_)
    ]


def test_matrix_products_of_a_perceptron_by_hand() -> None:
    graph = _graph(perceptron(8, 16, 4), task="train")
    found = Counter(
        (Pass(graph.ops.pass_[i]).name, graph.ops.source[i], tuple(graph.ops.attributes[i][k] for k in "mkn"))
        for i in _rows(graph, Kind.MATMUL)
    )
    assert found == Counter(
        [
            ("FORWARD", "first", (16, 8, 16)),
            ("FORWARD", "second", (16, 16, 4)),
            ("BACKWARD", "second", (4, 16, 16)),  # the weight's gradient, transposed
            ("BACKWARD", "second", (16, 4, 16)),
            ("BACKWARD", "first", (16, 16, 8)),  # nothing flows on to the input
        ]
    )


def test_inference_has_one_pass_and_the_outputs_leave() -> None:
    graph = _graph(perceptron(softmax=True), task="infer")
    assert set(graph.ops.pass_) == {Pass.FORWARD}
    outputs = [i for i in range(len(graph.tensors)) if graph.tensors.role[i] == Role.OUTPUT]
    assert [graph.tensors.shape[i] for i in outputs] == [(16, 4)]
    assert len(_rows(graph, Kind.SOFTMAX)) == 1


def test_the_last_softmax_becomes_part_of_the_loss_in_training() -> None:
    graph = _graph(perceptron(softmax=True), task="train")
    names = [graph.ops.attributes[i]["name"] for i in _rows(graph, Kind.SOFTMAX)]
    assert names == ["cross_entropy", "cross_entropy_backward"]


@pytest.mark.parametrize(("optimiser", "slots"), [("sgd", 0), ("momentum", 1), ("adam", 2), ("adamw", 2)])
def test_every_weight_has_its_gradient_and_its_state(optimiser: str, slots: int) -> None:
    graph = _graph(build_zoo("zoo:mnist"), task="train", optimiser=optimiser)
    weights = [
        i for i in range(len(graph.tensors)) if graph.tensors.role[i] == Role.WEIGHT and graph.tensors.alias_of[i] < 0
    ]
    assert sorted(w for w, _ in graph.gradients) == sorted(weights)
    for weight, gradient in graph.gradients:
        assert graph.tensors.shape[weight] == graph.tensors.shape[gradient]
        assert graph.tensors.role[gradient] == Role.GRADIENT
    state = sum(
        int(graph.tensors.bytes[i])
        for i in range(len(graph.tensors))
        if graph.tensors.role[i] == Role.OPTIMISER_STATE and graph.tensors.alias_of[i] < 0
    )
    assert state == slots * 4 * 225_034


def test_updates_overwrite_their_weights() -> None:
    graph = _graph(perceptron(), task="train")
    written = {graph.tensors.root(t) for i in range(len(graph.ops)) for t in graph.ops.outputs[i]}
    assert {w for w, _ in graph.gradients} <= written


def test_sources_are_nodes_of_the_model() -> None:
    graph = _graph(perceptron(), task="train")
    of_model = {s for s, p in zip(graph.ops.source, graph.ops.pass_, strict=True) if p != Pass.UPDATE}
    assert of_model == {"first", "act", "second", "loss"}
    of_update = {s for s, p in zip(graph.ops.source, graph.ops.pass_, strict=True) if p == Pass.UPDATE}
    assert of_update == {"w1", "b1", "w2", "b2"}


def test_running_statistics_are_updated_but_have_no_gradient() -> None:
    graph = _graph(normed_net(), task="train")
    names = {graph.tensors.name[w] for w, _ in graph.gradients}
    assert names == {"w", "scale", "shift", "dense"}
    written = {graph.tensors.name[graph.tensors.root(t)] for row in graph.ops.outputs for t in row}
    assert {"mean", "variance"} <= written
    assert [graph.ops.attributes[i] for i in _rows(graph, Kind.NORM)] == [
        {"name": "batch_norm", "rows": 4, "columns": 16 * 64},
        {"name": "batch_norm_backward", "rows": 4, "columns": 16 * 64},
    ]


def test_half_precision_halves_weights_and_keeps_wide_state() -> None:
    wide = _graph(perceptron(), task="train", optimiser="adam")
    half = _graph(perceptron(), task="train", optimiser="adam", precision="fp16")

    def size(graph: Graph, role: Role) -> int:
        own = (graph.tensors.role == role) & (graph.tensors.alias_of < 0)
        return int(graph.tensors.bytes[own].sum())

    assert 2 * size(half, Role.WEIGHT) == size(wide, Role.WEIGHT)
    assert size(half, Role.OPTIMISER_STATE) == size(wide, Role.OPTIMISER_STATE)


def test_a_chain_of_element_wise_operators_of_one_node_is_one_operator() -> None:
    data = model([node("Mish", ["x"], ["y"], name="mish")], [value("x", ["N", 8])], [value("y", ["N", 8])], opset=20)
    graph = _graph(data, task="infer")
    assert len(graph.ops) == 1
    assert graph.ops.attributes[0]["depth"] >= 4
    assert graph.ops.attributes[0]["elements"] == 128


def test_each_framework_fuses_as_far_as_it_does() -> None:
    nodes = [node("Mish", ["x"], ["h"], name="mish"), node("Neg", ["h"], ["y"], name="neg")]
    data = model(nodes, [value("x", ["N", 8])], [value("y", ["N", 8])], opset=20)
    known = frameworks()
    levels = {level: next(name for name, each in known.items() if each.fusion == level) for level in ("node", "wide")}
    counts = {level: len(_graph(data, task="infer", framework=name).ops) for level, name in levels.items()}
    assert counts == {"node": 2, "wide": 1}


def test_without_fusion_every_primitive_writes_its_result() -> None:
    builder = GraphBuilder()
    tensors = [builder.tensor(Aval((4,), "float32", 4), Role.INPUT)]
    for function in ("exp", "neg", "tanh"):
        tensors.append(builder.tensor(Aval((4,), "float32", 4), Role.ACTIVATION))
        builder.operator(
            elementwise(function, [Aval((4,), "float32", 4)], [Aval((4,), "float32", 4)]), function,
            pass_=Pass.FORWARD, source="one", inputs=(tensors[-2],), outputs=(tensors[-1],), repeats=1,
        )  # fmt: skip
    fuse(builder, keep={tensors[-1]}, level="none")
    assert builder.primitive == ["exp", "neg", "tanh"]
    fuse(builder, keep={tensors[-1]}, level="node")
    assert builder.attributes[0]["functions"] == ("exp", "neg", "tanh")


def test_given_statistics_of_a_norm_disappear_into_the_convolution_before_it() -> None:
    own, folded = (_graph(normed_net(), task="infer", framework=name) for name in ("popart", "poprt"))
    assert len(_rows(own, Kind.NORM)) == 1
    assert not _rows(folded, Kind.NORM)
    assert len(_rows(folded, Kind.CONV)) == len(_rows(own, Kind.CONV)) == 1


def test_an_update_stores_no_single_precision_copy_of_weight_or_gradient() -> None:
    """Readers convert and scale for themselves, and LAMB's norms sum squares that nobody stores."""
    graph = _graph(perceptron(), task="train", optimiser="lamb", precision="fp16", batch=4)
    ops, tensors = graph.ops, graph.tensors
    stored = [
        ops.attributes[i]["functions"]
        for i in _rows(graph, Kind.ELEMENTWISE, Pass.UPDATE)
        for t in ops.outputs[i]
        if tensors.alias_of[t] < 0 and len(tensors.shape[t]) == 2
    ]
    assert len(stored) == len([w for w, _ in graph.gradients if len(tensors.shape[w]) == 2]), "the updates alone"
    assert not any("square" in functions or set(functions) <= {"convert_element_type", "mul"} for functions in stored)


def test_operators_of_different_nodes_are_not_fused() -> None:
    nodes = [node("Exp", ["x"], ["e"], name="exp"), node("Neg", ["e"], ["y"], name="neg")]
    graph = _graph(model(nodes, [value("x", ["N", 8])], [value("y", ["N", 8])]), task="infer")
    assert graph.ops.source == ("exp", "neg")


def test_a_loop_is_flattened_with_its_trip_count() -> None:
    hidden, time = 6, 11
    chance = np.random.default_rng(0)
    weights = {
        "w": chance.normal(size=(1, 4 * hidden, 3)).astype(np.float32),
        "r": chance.normal(size=(1, 4 * hidden, hidden)).astype(np.float32),
    }
    nodes = [node("LSTM", ["x", "w", "r"], ["y"], name="cell", hidden_size=hidden)]
    data = model(nodes, [value("x", [time, 2, 3])], [value("y", [time, 1, 2, hidden])], weights)
    graph = _graph(data, task="infer", batch=time)
    repeated = [i for i in _rows(graph, Kind.MATMUL) if graph.ops.repeats[i] == time]
    assert [tuple(graph.ops.attributes[i][k] for k in "mkn") for i in repeated] == [(2, hidden, 4 * hidden)]


def test_weights_are_never_loaded_to_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a weight was loaded")

    program = load(build_zoo("zoo:mnist"), name="m", batch=4)
    monkeypatch.setattr("simulator.frontends.onnx.planning.to_numpy", fail)
    trace(program, RunConfig(batch=4))


def test_a_model_without_weights_cannot_be_trained() -> None:
    data = model([node("Relu", ["x"], ["y"])], [value("x", ["N", 4])], [value("y", ["N", 4])])
    with pytest.raises(SimulatorError) as caught:
        _graph(data, task="train")
    assert caught.value.code == "model.not_trainable"


def test_tracing_twice_gives_the_same_graph() -> None:
    first, second = (_graph(normed_net(), task="train", optimiser="adam") for _ in range(2))
    assert first.ops.attributes == second.ops.attributes
    assert first.ops.inputs == second.ops.inputs
    assert first.tensors.shape == second.tensors.shape


@needs_shared
@pytest.mark.parametrize("task", ["infer", "train"])
def test_a_real_network_has_nothing_without_a_name(task: str) -> None:
    path = SHARED / "models" / "onnx-light-resnet50.onnx"
    graph = trace(load(Path(path), name="resnet50", batch=1), RunConfig(task=task, batch=1))
    check(graph)
    assert _rows(graph, Kind.FALLBACK) == []
    forward = _rows(graph, Kind.CONV, Pass.FORWARD)
    assert len(forward) == 53
    if task == "train":  # a gradient of each weight, and of each input but the image's
        assert len(_rows(graph, Kind.CONV, Pass.BACKWARD)) == 53 + 52


def test_half_precision_leaves_nothing_wide_between_nodes() -> None:
    weights = {"w": np.ones((8, 4), np.float32), "half": np.float32(0.5).reshape(())}
    nodes = [
        node("Mul", ["x", "half"], ["a"]),
        node("MatMul", ["a", "w"], ["b"]),
        node("Cast", ["i"], ["f"], to=1),
        node("Add", ["b", "f"], ["y"]),
    ]
    data = model(nodes, [value("x", ["N", 8]), value("i", ["N", 4], 6)], [value("y", ["N", 4])], weights)
    graph = _graph(data, task="infer", precision="fp16")
    floats = {graph.tensors.dtype[t] for row in graph.ops.outputs for t in row}
    assert floats == {"float16"}


@needs_shared
@pytest.mark.parametrize("path", sorted((SHARED / "models").glob("*.onnx")), ids=lambda p: p.stem)
def test_real_models_are_traced_in_half_precision(path: Path) -> None:
    dims = DIMS.get(path.stem, {})
    config = RunConfig(task="infer", batch=1, precision="fp16", dims=dims)
    graph = trace(load(path, name=path.stem, batch=1, dims=dims), config)
    assert _rows(graph, Kind.FALLBACK) == []
