"""Collects rows of operators and tensors and freezes them into a Graph. No JAX."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.graph.classify import Aval, Described
from simulator.graph.graph import Graph, Kind, Operators, Pass, Role, Tensors


class GraphBuilder:
    """Rows in the order of data flow; ``freeze`` drops nothing and checks nothing."""

    def __init__(self) -> None:
        self.kind: list[Kind] = []
        self.pass_: list[Pass] = []
        self.repeats: list[int] = []
        self.source: list[str] = []
        self.primitive: list[str] = []
        self.attributes: list[dict[str, Any]] = []
        self.inputs: list[tuple[int, ...]] = []
        self.outputs: list[tuple[int, ...]] = []
        self.avals: list[Aval] = []
        self.role: list[Role] = []
        self.alias_of: list[int] = []
        self.name: list[str] = []
        self.producer: dict[int, int] = {}  # root tensor -> operator

    def tensor(self, aval: Aval, role: Role, *, name: str = "", alias_of: int = -1) -> int:
        """A new tensor's number."""
        self.avals.append(aval)
        self.role.append(role)
        self.alias_of.append(alias_of)
        self.name.append(name)
        return len(self.avals) - 1

    def root(self, tensor: int) -> int:
        while self.alias_of[tensor] >= 0:
            tensor = self.alias_of[tensor]
        return tensor

    def operator(
        self,
        described: Described,
        primitive: str,
        *,
        pass_: Pass,
        source: str,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        repeats: int,
    ) -> int:
        """A new operator's number."""
        self.kind.append(described.kind)
        self.attributes.append(described.attributes)
        self.primitive.append(primitive)
        self.pass_.append(pass_)
        self.source.append(source)
        self.inputs.append(inputs)
        self.outputs.append(outputs)
        self.repeats.append(repeats)
        for tensor in outputs:
            self.producer[tensor] = len(self.kind) - 1
        return len(self.kind) - 1

    def freeze(self, *, name: str, batch: int, training: bool, gradients: tuple[tuple[int, int], ...]) -> Graph:
        """The Graph, with tensors renumbered so that none is left that nothing holds."""
        kept = self._held(gradients)
        number = {old: new for new, old in enumerate(kept)}
        number[-1] = -1
        ops = Operators(
            kind=np.array(self.kind, np.int8),
            pass_=np.array(self.pass_, np.int8),
            repeats=np.array(self.repeats, np.int64),
            source=tuple(self.source),
            primitive=tuple(self.primitive),
            attributes=tuple(self.attributes),
            inputs=tuple(tuple(number[t] for t in row) for row in self.inputs),
            outputs=tuple(tuple(number[t] for t in row) for row in self.outputs),
        )
        avals = [self.avals[t] for t in kept]
        tensors = Tensors(
            bytes=np.array([a.elements * a.itemsize for a in avals], np.int64),
            role=np.array([self.role[t] for t in kept], np.int8),
            alias_of=np.array([number[self.alias_of[t]] for t in kept], np.int64),
            shape=tuple(a.shape for a in avals),
            dtype=tuple(a.dtype for a in avals),
            name=tuple(self.name[t] for t in kept),
        )
        pairs = tuple((number[w], number[g]) for w, g in gradients)
        return Graph(ops, tensors, name=name, batch=batch, training=training, gradients=pairs)

    def _held(self, gradients: tuple[tuple[int, int], ...]) -> list[int]:
        held = {t for row in (*self.inputs, *self.outputs, *gradients) for t in row}
        held |= {t for t, role in enumerate(self.role) if role <= Role.OPTIMISER_STATE or role == Role.OUTPUT}
        for tensor in sorted(held):
            while (tensor := self.alias_of[tensor]) >= 0:
                held.add(tensor)
        return sorted(held)
