"""Makes a ModelPlan of a checked model: decides what is a constant, what a weight, and what is not supported."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import AttributeProto, helper

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits
from simulator.frontends.onnx.check import label_of, subgraphs
from simulator.frontends.onnx.external import Folder
from simulator.frontends.onnx.plan import GraphPlan, ModelPlan, NodePlan
from simulator.frontends.onnx.registry import find
from simulator.frontends.onnx.static import product_names, static_names, untrained_names
from simulator.frontends.onnx.tensors import dtype_name, to_numpy
from simulator.program import WeightSpec

FLOATS = frozenset({"float16", "float32", "float64", "bfloat16"})
SMALL_TABLE = 65_536  # elements: integer tables up to here are constants
LAZY_FILL = 1024  # elements: a ConstantOfShape from here on is a weight, made when numbers are wanted


def unsupported(graph: Any) -> dict[tuple[str, str], list[str]]:
    """(domain, operator) to the labels of its nodes, over all graphs, for operators that are not in the table."""
    found: dict[tuple[str, str], list[str]] = {}
    for node in graph.node:
        if not _is_constant(node) and find(node.domain, node.op_type) is None:
            found.setdefault((node.domain, node.op_type), []).append(label_of(node))
        for inner in subgraphs(node):
            for key, labels in unsupported(inner).items():
                found.setdefault(key, []).extend(labels)
    return found


def refuse_unsupported(graph: Any) -> None:
    """Raise ``model.unsupported_operators`` naming all of them at once."""
    missing = unsupported(graph)
    if missing:
        names = [f"{domain}::{name}" if domain else name for domain, name in missing]
        raise SimulatorError(
            "model.unsupported_operators",
            f"These operators are not supported: {', '.join(n[:80] for n in names[:40])}. "
            "Export the model without them, or with a decomposition into standard operators.",
            params={"operators": [n[:80] for n in names[:100]]},
        )


def plan_model(model: Any, opsets: dict[str, int], limits: Limits, folder: Folder | None = None) -> ModelPlan:
    """Plan a checked model whose operators are all supported. ``folder`` may hold data of tensors."""
    return _Planner(model.graph, opsets, limits, folder).plan(model.graph)


def _is_constant(node: Any) -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")


class _Planner:
    def __init__(self, graph: Any, opsets: dict[str, int], limits: Limits, folder: Folder | None) -> None:
        self._folder = folder
        self._opsets = opsets
        self._limits = limits
        self._static = static_names(graph)
        self._untrained = untrained_names(graph)
        self._products = product_names(graph)
        self._labels: list[str] = []
        self._loops: list[str] = []
        self._taken: dict[str, int] = {}
        self._weights: dict[str, WeightSpec] = {}
        self._loaders: dict[str, Callable[[], np.ndarray]] = {}

    def plan(self, graph: Any) -> ModelPlan:
        planned = self._graph(graph)
        producers = {name: node for node in planned.nodes for name in node.outputs if name}
        return ModelPlan(
            planned, self._weights, self._loaders, tuple(self._labels), producers, loops=tuple(self._loops)
        )

    def _graph(self, graph: Any) -> GraphPlan:
        constants: dict[str, np.ndarray] = {}
        weights: dict[str, str] = {}
        for tensor in graph.initializer:
            self._tensor(tensor.name, tensor, constants, weights, lifted=True)
        nodes = []
        for node in graph.node:
            if _is_constant(node):
                self._constant(node, constants, weights)
            elif not self._fill(node, constants, weights):
                nodes.append(self._node(node))
        held = {tensor.name for tensor in graph.initializer}
        inputs = tuple(value.name for value in graph.input if value.name not in held)
        outputs = tuple(value.name for value in graph.output)
        return GraphPlan(inputs, outputs, tuple(nodes), constants, weights)

    def _tensor(self, name: str, tensor: Any, constants: Any, weights: Any, *, lifted: bool) -> None:
        dtype = dtype_name(tensor.data_type, f"Tensor '{name[:200]}'")
        shape = tuple(int(d) for d in tensor.dims)
        if self._is_weight(name, shape, dtype, lifted=lifted):
            weights[name] = self._weight(name, self._spec(name, shape, dtype), lambda: to_numpy(tensor, self._folder))
        else:
            constants[name] = to_numpy(tensor, self._folder)

    def _is_weight(self, name: str, shape: tuple[int, ...], dtype: str, *, lifted: bool) -> bool:
        """Shapes and scalars are constants; the rest of the floats are weights, read when numbers are wanted."""
        size = math.prod(shape)
        if name in self._static and size <= self._limits.folded_elements:
            return False
        if dtype not in FLOATS:
            return size > SMALL_TABLE
        return bool(shape) if lifted else size > 1

    def _spec(self, name: str, shape: tuple[int, ...], dtype: str) -> WeightSpec:
        trainable = dtype in FLOATS and name not in self._untrained
        return WeightSpec(shape, dtype, trainable, dtype in FLOATS and name in self._products)

    def _weight(self, name: str, spec: WeightSpec, load: Callable[[], np.ndarray]) -> str:
        key, again = name, 1
        while key in self._weights:
            again += 1
            key = f"{name} ({again})"
        self._weights[key] = spec
        self._loaders[key] = load
        return key

    def _constant(self, node: Any, constants: Any, weights: Any) -> None:
        name = node.output[0]
        attribute = node.attribute[0] if node.attribute else None
        if attribute is None:
            raise SimulatorError(
                "model.invalid_node", f"Constant '{label_of(node)}' has no value. Export the model again."
            )
        if attribute.type == AttributeProto.TENSOR:
            self._tensor(name, attribute.t, constants, weights, lifted=False)
            return
        value = helper.get_attribute_value(attribute)
        dtypes: dict[str, Any] = {"value_float": np.float32, "value_floats": np.float32}
        constants[name] = np.asarray(value, dtypes.get(attribute.name, np.int64))

    def _fill(self, node: Any, constants: Any, weights: Any) -> bool:
        """Turn a large ConstantOfShape of a constant shape into a weight that is filled when numbers are wanted."""
        if node.op_type != "ConstantOfShape" or node.domain not in ("", "ai.onnx"):
            return False
        shape = constants.get(node.input[0])
        if shape is None or shape.ndim != 1 or node.output[0] in self._static:
            return False
        sizes = tuple(int(s) for s in shape)
        value = to_numpy(node.attribute[0].t, self._folder) if node.attribute else np.zeros(1, np.float32)
        elements = math.prod(sizes)
        fits = elements * value.itemsize <= self._limits.tensor_bytes
        if value.dtype.kind != "f" or elements < LAZY_FILL or not fits or min(sizes) < 0:
            return False
        name = node.output[0]
        spec = self._spec(name, sizes, value.dtype.name)
        weights[name] = self._weight(name, spec, lambda: np.full(sizes, value.reshape(-1)[0]))
        return True

    def _node(self, node: Any) -> NodePlan:
        operator = find(node.domain, node.op_type)
        if operator is None:
            raise SimulatorError("model.unsupported_operators", f"Operator {node.op_type[:100]} is not supported.")
        label = self._label(node)
        index = len(self._labels)
        self._labels.append(label)
        if node.op_type == "Loop":
            self._loops.append(label)
        version = self._opsets.get("" if node.domain == "ai.onnx" else node.domain, 1)
        attributes = {a.name: self._attribute(a) for a in node.attribute}
        return NodePlan(index, label, operator, version, tuple(node.input), tuple(node.output), attributes)

    def _label(self, node: Any) -> str:
        label = label_of(node)
        count = self._taken[label] = self._taken.get(label, 0) + 1
        return label if count == 1 else f"{label} ({count})"

    def _attribute(self, attribute: Any) -> Any:
        if attribute.type == AttributeProto.GRAPH:
            return self._graph(attribute.g)
        if attribute.type == AttributeProto.TENSOR:
            return to_numpy(attribute.t, self._folder)
        return helper.get_attribute_value(attribute)
