"""What a loop on the device costs beside its body: a counter each trip, and carried values that are copied back."""

import numpy as np
import onnx
from onnx import TensorProto, helper

from simulator.config import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Graph, Kind
from simulator.graph.trace import trace
from tests.simulator.onnx_models import model, node, value

TRIPS = 9


def looped() -> Graph:
    """``table`` goes through unchanged, ``out`` is gathered from it anew each trip."""
    names = ["table", "index", "out"]
    shapes = {"table": [20, 6], "index": [8], "out": [8, 6]}
    kinds = {"table": TensorProto.FLOAT, "index": TensorProto.INT32, "out": TensorProto.FLOAT}
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["again"]),
            helper.make_node("Identity", ["table_in"], ["table_out"]),
            helper.make_node("Identity", ["index_in"], ["index_out"]),
            helper.make_node("Gather", ["table_in", "index_in"], ["out_out"], name="gather"),
        ],
        "body",
        [helper.make_tensor_value_info("trip", TensorProto.INT64, []), helper.make_tensor_value_info("go", 9, [])]
        + [helper.make_tensor_value_info(f"{n}_in", kinds[n], shapes[n]) for n in names],
        [helper.make_tensor_value_info("again", 9, [])]
        + [helper.make_tensor_value_info(f"{n}_out", kinds[n], shapes[n]) for n in names],
    )
    nodes = [
        node("Loop", ["trips", "", *names], ["a", "b", "y"], name="loop", body=body),
        node("ReduceSum", ["y"], ["sum"], keepdims=0),
    ]
    inputs = [helper.make_tensor_value_info(n, kinds[n], shapes[n]) for n in names]
    data = model(nodes, inputs, [value("sum", [])], {"trips": np.array(TRIPS, dtype=np.int64)})
    assert onnx.load_from_string(data).graph.node[0].op_type == "Loop"
    return trace(load(data, name="loop", batch=1), RunConfig(task="infer"))


def test_a_trip_counts_itself_and_copies_back_only_what_it_made() -> None:
    graph = looped()
    rows = {p: i for i, p in enumerate(graph.ops.primitive)}
    assert graph.ops.repeats[rows["gather"]] == graph.ops.repeats[rows["trip"]] == TRIPS
    carried = [i for i, p in enumerate(graph.ops.primitive) if p == "carry"]
    assert [graph.ops.attributes[i] for i in carried] == [{"op": "carry", "bytes": 8 * 6 * 4}]
    assert graph.ops.repeats[carried[0]] == TRIPS
    assert graph.ops.kind[rows["trip"]] == Kind.ELEMENTWISE
    assert graph.ops.repeats[rows["reduce_sum"]] == 1
