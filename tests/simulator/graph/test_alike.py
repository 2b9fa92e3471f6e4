"""Graphs are alike when a planner could not tell them apart."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.graph.graph import Graph, alike
from tests.simulator.handmade import dense_step
from tests.simulator.layers import laid


def test_names_do_not_matter() -> None:
    graph = dense_step()
    renamed = replace(
        graph,
        ops=replace(graph.ops, source=("other",) * len(graph.ops)),
        tensors=replace(graph.tensors, name=("",) * len(graph.tensors)),
    )
    assert alike(graph, renamed)


def _changed(graph: Graph, column: str) -> Graph:
    if column == "attributes":
        first, *rest = graph.ops.attributes
        return replace(graph, ops=replace(graph.ops, attributes=({**first, "k": 1}, *rest)))
    if column == "inputs":
        return replace(graph, ops=replace(graph.ops, inputs=((0, 0), *graph.ops.inputs[1:])))
    if column == "dtype":
        return replace(graph, tensors=replace(graph.tensors, dtype=("float16", *graph.tensors.dtype[1:])))
    values = np.array(getattr(graph.tensors, column))
    values[0] += 1
    return replace(graph, tensors=replace(graph.tensors, **{column: values}))


@pytest.mark.parametrize("column", ["attributes", "inputs", "dtype", "bytes", "role"])
def test_all_that_a_planner_reads_matters(column: str) -> None:
    assert not alike(dense_step(), _changed(dense_step(), column))


def test_equal_ipus_of_a_pipeline_share_their_plans() -> None:
    planned = laid(stages=4, accumulation=8, recompute="stages").planned
    assert len(planned) == 4
    assert planned[1].assignment is planned[2].assignment
    assert planned[0].assignment is not planned[1].assignment
    apart = laid(stages=4, accumulation=8, recompute="stages", stage_proportions=(0.6, 0.6, 0.3, 0.6)).planned
    assert apart[1].assignment is not apart[2].assignment
