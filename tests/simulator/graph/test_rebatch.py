"""A graph made for another batch equals the one that is traced for it; what follows no line is refused."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Graph
from simulator.graph.rebatch import Batches, NotAffineError, template
from simulator.graph.trace import trace
from simulator.pipeline import open_model
from simulator.program import Program
from simulator.zoo.catalogue import ZOO
from tests.simulator.handmade import dense_step
from tests.simulator.onnx_models import normed_net, perceptron

MADE = {"normed": normed_net, "softmax": lambda: perceptron(softmax=True)}


def _opened(model: str, config: RunConfig) -> Program:
    if model in MADE:
        return load(MADE[model](), name=model, batch=config.batch)
    return open_model(model, config)[0]


@cache
def _traced(model: str, batch: int, task: str, precision: str = "fp16") -> Graph:
    config = RunConfig(task=task, batch=batch, precision=precision, optimiser="adam")
    return trace(_opened(model, config), config)


def _same(made: Graph, traced: Graph) -> None:
    for table in ("ops", "tensors"):
        mine, other = getattr(made, table), getattr(traced, table)
        for name in (f.name for f in fields(mine)):
            a, b = getattr(mine, name), getattr(other, name)
            if isinstance(a, np.ndarray):
                assert a.dtype == b.dtype, name
                assert a.tolist() == b.tolist(), name
            else:
                assert a == b, name
    assert (made.batch, made.name, made.training, made.gradients) == (
        traced.batch, traced.name, traced.training, traced.gradients,
    )  # fmt: skip


@pytest.mark.parametrize("model", ["zoo:mnist", *MADE])
@pytest.mark.parametrize("task", ["train", "infer"])
@settings(max_examples=4, deadline=None, derandomize=True)
@given(batch=st.integers(2, 300))
def test_any_batch_equals_its_own_trace(model: str, task: str, batch: int) -> None:
    found = template(_traced(model, 4, task), _traced(model, 9, task))
    _same(found.at(batch), _traced(model, batch, task))


@pytest.mark.parametrize(("model", "task"), [("zoo:lstm", "train"), ("zoo:unet", "infer")])
def test_a_model_of_the_zoo_equals_its_own_trace(model: str, task: str) -> None:
    _same(template(_traced(model, 4, task), _traced(model, 9, task)).at(6), _traced(model, 6, task))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "task"),
    [(each.id, task) for each in ZOO for task in ("train", "infer") if each.trainable or task == "infer"],
)
def test_every_model_of_the_zoo_equals_its_own_trace_or_is_refused(model: str, task: str) -> None:
    try:
        found = template(_traced(model, 4, task), _traced(model, 9, task))
    except NotAffineError:
        # every image of a batch is compared with every text, every atom with every atom
        assert model in ("zoo:clip", "zoo:schnet")
        return
    except SimulatorError as error:
        if error.code != "config.batch_fixed":  # a kernel
            raise
        return
    _same(found.at(6), _traced(model, 6, task))


def test_which_of_the_two_traces_comes_first_does_not_matter() -> None:
    small, large = _traced("zoo:mnist", 4, "train"), _traced("zoo:mnist", 9, "train")
    _same(template(large, small).at(33), template(small, large).at(33))


def test_a_batch_of_one_is_traced() -> None:
    found = template(dense_step(4), dense_step(9))
    with pytest.raises(NotAffineError):
        found.at(1)
    with pytest.raises(NotAffineError):
        template(dense_step(1), dense_step(9))


def _with_first(graph: Graph, **changed: Any) -> Graph:
    first, *rest = graph.ops.attributes
    return replace(graph, ops=replace(graph.ops, attributes=({**first, **changed}, *rest)))


@pytest.mark.parametrize(
    "of_batch",
    [lambda b: b * b, lambda b: -(-b // 2), lambda b: b // 2, lambda b: 100 - b, lambda b: f"{b}", lambda b: b > 5],
    ids=["square", "rounded up", "rounded down", "falling", "text", "condition"],
)
def test_what_follows_no_line_is_refused(of_batch: Any) -> None:
    graphs = [_with_first(dense_step(b), m=of_batch(b)) for b in (4, 9)]
    with pytest.raises(NotAffineError):
        template(*graphs)


def test_another_structure_is_refused() -> None:
    with pytest.raises(NotAffineError):
        template(dense_step(4), dense_step(9, training=False))
    nine = dense_step(9)
    with pytest.raises(NotAffineError):
        template(dense_step(4), replace(nine, ops=replace(nine.ops, primitive=("add", *nine.ops.primitive[1:]))))


def test_two_traces_are_enough_and_a_batch_of_one_gets_its_own() -> None:
    asked: list[int] = []

    def traced(batch: int) -> Graph:
        asked.append(batch)
        return dense_step(batch)

    graphs = Batches(traced)
    graphs.give(dense_step(16))
    for batch in (8, 4, 64, 1, 2, 8):
        _same(graphs.at(batch), dense_step(batch))
    assert asked == [8, 1]


def test_every_batch_is_traced_where_no_line_joins_them() -> None:
    graphs = Batches(lambda batch: _with_first(dense_step(batch), m=batch * batch))
    for batch in (4, 9, 16, 25):
        assert graphs.at(batch).ops.attributes[0]["m"] == batch * batch
    assert graphs.traces == 4
