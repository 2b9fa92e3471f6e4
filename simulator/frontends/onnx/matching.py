"""Looks at a planned graph as expressions: products as their factors, sums as their terms, constants as numbers.

It knows no pattern; those are in ``patterns``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.frontends.onnx.plan import GraphPlan, NodePlan

MOST_FACTORS = 8


@dataclass
class Match:
    """What a pattern found: the nodes it stands for, the operator and inputs of the one that takes their place."""

    operator: tuple[str, str]  # domain, name
    inputs: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    opset: int = 20


class Expressions:
    """One graph while it is being matched. ``seen`` collects the nodes that the current pattern went through."""

    def __init__(self, graph: GraphPlan, scalar: Callable[[str], float | None]) -> None:
        self.producer: Mapping[str, NodePlan] = {name: node for node in graph.nodes for name in node.outputs if name}
        self.readers = Counter(name for node in graph.nodes for name in node.inputs)
        self.readers.update(graph.outputs)
        for node in graph.nodes:  # graphs inside see everything outside
            for inner in node.attributes.values():
                if isinstance(inner, GraphPlan):
                    self.readers.update(name for part in inner.nodes for name in part.inputs)
                    self.readers.update(inner.outputs)
        self.scalar = scalar
        self.seen: dict[int, NodePlan] = {}

    def made_by(self, name: str, *operators: str) -> NodePlan | None:
        """The node that makes ``name``, if it is one of ``operators``; it then belongs to the match."""
        node = self.producer.get(name)
        if node is None or node.op.name not in operators or node.op.domain:
            return None
        self.seen[node.index] = node
        return node

    def factors(self, name: str) -> tuple[float, list[str]]:
        """``name`` as a number times other tensors, through products that nothing else reads."""
        node = self.producer.get(name)
        number = self.scalar(name)
        if number is not None:
            return number, []
        if node is None or node.op.domain or node.op.name not in ("Mul", "Div"):
            return 1.0, [name]
        left, right = node.inputs
        below = self.scalar(right)
        if node.op.name == "Div" and not below:
            return 1.0, [name]
        self.seen[node.index] = node
        a, first = self._inner(left)
        if node.op.name == "Div":
            return a / (below or 1.0), first
        b, second = self._inner(right)
        found = first + second
        return (a * b, found) if len(found) <= MOST_FACTORS else (1.0, [name])

    def _inner(self, name: str) -> tuple[float, list[str]]:
        return self.factors(name) if self.readers[name] == 1 or self.scalar(name) is not None else (1.0, [name])

    def terms(self, name: str) -> tuple[float, str] | None:
        """``name`` as a number plus one other tensor."""
        node = self.made_by(name, "Add")
        if node is None:
            return None
        for number, other in (node.inputs, node.inputs[::-1]):
            value = self.scalar(number)
            if value is not None:
                return value, other
        return None

    def between(self, root: NodePlan, inputs: tuple[str, ...]) -> set[int] | None:
        """Numbers of the nodes from ``inputs`` to ``root``, if the pattern saw them all and nobody else reads them."""
        group, waiting = {root.index: root}, list(root.inputs)
        while waiting:
            name = waiting.pop()
            node = self.producer.get(name)
            if name in inputs or node is None or node.index in group:
                continue
            if node.index not in self.seen:
                return None
            group[node.index] = node
            waiting += node.inputs
        inside = Counter(name for node in group.values() for name in node.inputs)
        made = [name for node in group.values() if node.index != root.index for name in node.outputs]
        return set(group) if all(self.readers[name] == inside[name] for name in made if name) else None


def near(value: float, wanted: float) -> bool:
    """Equal as far as an exporter's rounding goes."""
    return bool(np.isclose(value, wanted, rtol=2e-3))
