"""Structure of a parsed model: counts, depth, names defined once and before use, tensors, schemas. No shapes yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from onnx import AttributeProto

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits
from simulator.frontends.onnx.external import Folder
from simulator.frontends.onnx.opsets import check_schema
from simulator.frontends.onnx.tensors import check_tensor

LABEL_LENGTH = 200


def label_of(node: Any) -> str:
    """How a node is called in messages: its name, or what it makes."""
    name = node.name or (f"{node.op_type} -> {node.output[0]}" if node.output else node.op_type)
    return str(name[:LABEL_LENGTH])


def subgraphs(node: Any) -> Iterator[Any]:
    """The graphs among a node's attributes."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def check_model(model: Any, opsets: dict[str, int], limits: Limits, folder: Folder | None = None) -> None:
    """Raise ``model.*`` for the first thing that is wrong. ``folder`` may hold data of tensors."""
    check = _Check(opsets, limits, folder)
    if not model.graph.node and not model.graph.initializer:
        raise SimulatorError("model.empty_graph", "The graph has no nodes: there is nothing to run. Export it again.")
    if not model.graph.output:
        raise SimulatorError("model.no_outputs", "The graph has no outputs: mark what the model computes as an output.")
    check.graph(model.graph, set(), 1)


@dataclass
class _Check:
    opsets: dict[str, int]
    limits: Limits
    folder: Folder | None
    nodes: int = field(default=0)

    def graph(self, graph: Any, outer: set[str], depth: int) -> None:
        if depth > self.limits.depth:
            raise _limit("depth", f"Graphs are nested more than {self.limits.depth} deep", self.limits.depth)
        self._count(graph)
        known = self._start(graph)
        for node in graph.node:
            self._node(node, known, outer, depth)
        for value in graph.output:
            if value.name not in known and value.name not in outer:
                raise SimulatorError(
                    "model.undefined_output",
                    f"Output '{value.name[:LABEL_LENGTH]}' is never produced. Export the model again.",
                    params={"output": value.name[:LABEL_LENGTH]},
                )

    def _count(self, graph: Any) -> None:
        self.nodes += len(graph.node)
        if self.nodes > self.limits.nodes:
            raise _limit("nodes", f"The model has more than {self.limits.nodes} nodes", self.limits.nodes)
        if max(len(graph.input) - len(graph.initializer), len(graph.output)) > self.limits.ports:
            raise _limit("ports", f"A graph has more than {self.limits.ports} inputs or outputs", self.limits.ports)

    def _start(self, graph: Any) -> set[str]:
        """Names known before the first node: inputs and initialisers (which may be inputs too, in old files)."""
        if len(graph.sparse_initializer):
            raise SimulatorError(
                "model.sparse", "Sparse weights are not supported. Export the model with dense weights."
            )
        known = {value.name for value in graph.input}
        if len(known) < len(graph.input):
            raise _duplicate(next(_repeated(v.name for v in graph.input)))
        names = [tensor.name for tensor in graph.initializer]
        if len(set(names)) < len(names):
            raise _duplicate(next(_repeated(iter(names))))
        for tensor in graph.initializer:
            check_tensor(tensor, self.limits, self.folder)
        return known | set(names)

    def _node(self, node: Any, known: set[str], outer: set[str], depth: int) -> None:
        label = label_of(node)
        if max(len(node.input), len(node.output)) > self.limits.ports:
            raise _limit("ports", f"Node '{label}' has more than {self.limits.ports} ports", self.limits.ports)
        for name in node.input:
            if name and name not in known and name not in outer:
                raise SimulatorError(
                    "model.undefined_tensor",
                    f"Node '{label}' ({node.op_type[:100]}) reads tensor '{name[:LABEL_LENGTH]}', which nothing "
                    "defines before it. Export the model with its weights.",
                    params={"node": label, "tensor": name[:LABEL_LENGTH]},
                )
        check_schema(node, label, self.opsets.get("" if node.domain == "ai.onnx" else node.domain, 1))
        for attribute in node.attribute:
            for tensor in (attribute.t, *attribute.tensors) if attribute.type in (4, 9) else ():
                check_tensor(tensor, self.limits, self.folder)
        for graph in subgraphs(node):
            self.graph(graph, outer | known, depth + 1)
        for name in node.output:
            if name and name in known:
                raise _duplicate(name)
            known.add(name)


def _repeated(names: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)


def _duplicate(name: str) -> SimulatorError:
    shown = name[:LABEL_LENGTH]
    return SimulatorError(
        "model.duplicate_tensor",
        f"Tensor '{shown}' is defined twice, so it is not clear which is meant. Give each tensor its own name.",
        params={"tensor": shown},
    )


def _limit(what: str, message: str, limit: int) -> SimulatorError:
    return SimulatorError(
        "model.too_large", f"{message}, which is the limit. Simplify the model.", params={"what": what, "limit": limit}
    )
