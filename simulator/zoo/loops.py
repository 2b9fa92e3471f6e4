"""A kernel in a loop on the device, as micro-benchmarks time one: what it makes is carried from trip to trip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto, helper

from simulator.zoo.network import Network


@dataclass(frozen=True)
class Carried:
    """A value that goes round: ``tensor`` is what it starts as."""

    name: str
    tensor: str
    shape: tuple[int, ...]
    dtype: str = "float32"


def zeros(net: Network, name: str, shape: Sequence[int]) -> str:
    """A float32 tensor of zeros that nobody stores."""
    return net.node("Expand", name, [net.constant(0.0, "float32"), net.constant(list(shape))])


def looped(
    net: Network, trips: int, carried: Sequence[Carried], body: Callable[[list[str]], Sequence[str]]
) -> list[str]:
    """``trips`` times ``body``, which is given the carried values and names what they become; their last values."""
    outside = len(net.nodes)
    entering = [f"{each.name}.entering" for each in carried]
    made = body(entering)
    nodes = [helper.make_node("Identity", ["go"], ["again"], name="again"), *net.nodes[outside:]]
    del net.nodes[outside:]
    leaving = [f"{each.name}.leaving" for each in carried]
    nodes += [helper.make_node("Identity", [a], [b], name=b) for a, b in zip(made, leaving, strict=True)]
    types = [helper.np_dtype_to_tensor_dtype(np.dtype(each.dtype)) for each in carried]
    shapes = [list(each.shape) for each in carried]
    inside = helper.make_graph(
        nodes,
        "body",
        [
            helper.make_tensor_value_info("trip", TensorProto.INT64, []),
            helper.make_tensor_value_info("go", TensorProto.BOOL, []),
            *map(helper.make_tensor_value_info, entering, types, shapes),
        ],
        [
            helper.make_tensor_value_info("again", TensorProto.BOOL, []),
            *map(helper.make_tensor_value_info, leaving, types, shapes),
        ],
    )
    return net.split(
        "Loop", "loop", [net.constant(trips), "", *(each.tensor for each in carried)], len(carried), body=inside
    )


def whole_input(net: Network, name: str, shape: tuple[int, ...], dtype: str = "float32") -> str:
    """An input of ``shape`` that is one sample of a batch of one: a kernel has no batch of its own."""
    given = net.input(name, (1, *shape), dtype)
    return net.node("Reshape", f"{name}.whole", [given, net.constant(list(shape))])


def summed(net: Network, tensor: str) -> None:
    """Give out the sum of ``tensor``, so that a benchmark returns a single number."""
    net.output("sum", net.node("ReduceSum", "sum_up", [tensor], keepdims=0), ())
