"""Which tensors decide shapes, and which weights carry no gradient: a walk back from the inputs that say so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simulator.frontends.onnx.check import subgraphs
from simulator.frontends.onnx.registry import find

ENDS = frozenset({"Shape", "Size"})  # their result is known whatever the values of their input


def all_nodes(graph: Any) -> Iterator[Any]:
    """Every node of a graph and of the graphs inside it."""
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from all_nodes(inner)


def static_names(graph: Any) -> frozenset[str]:
    """Names whose values must be known while tracing, directly or through what computes them."""
    producers: dict[str, list[Any]] = {}
    waiting: list[str] = []
    for node in all_nodes(graph):
        for name in node.output:
            producers.setdefault(name, []).append(node)
        operator = find(node.domain, node.op_type)
        if operator is not None:
            waiting += [name for position, name in enumerate(node.input) if position in operator.static]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name and name not in found:
            found.add(name)
            for node in producers.get(name, ()):
                if node.op_type not in ENDS:
                    waiting += node.input
    return frozenset(found)


PRODUCTS = {"Conv": 1, "Gemm": 1, "MatMul": 1}  # operator -> position of its weight


def product_names(graph: Any) -> frozenset[str]:
    """Names that are read by matrix products alone, each time as the weight."""
    seen: set[str] = set()
    elsewhere = {value.name for value in graph.output}
    for node in all_nodes(graph):
        for position, name in enumerate(node.input):
            weighs = not node.domain and PRODUCTS.get(node.op_type) == position
            (seen if weighs else elsewhere).add(name)
    return frozenset(seen - elsewhere)


def untrained_names(graph: Any) -> frozenset[str]:
    """Names of weights that an operator keeps for itself, such as running statistics and quantisation scales."""
    found = set()
    for node in all_nodes(graph):
        operator = find(node.domain, node.op_type)
        if operator is not None:
            found |= {name for position, name in enumerate(node.input) if position in operator.untrained}
    return frozenset(found)
