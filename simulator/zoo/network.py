"""An ONNX graph in the making: nodes under hierarchical names, weights as shapes and rules. It knows no layer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from simulator.zoo.weights import Start, drawn

OPSET = 24  # the first with Swish
IR_VERSION = 11
Shape = tuple[int | str, ...]


@dataclass(frozen=True)
class Weight:
    """A float32 weight that exists as a shape until somebody asks for its values."""

    shape: tuple[int, ...]
    start: Start
    trained: bool = True

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class Loss:
    """What training minimises of an output, as in ``simulator.program.Objective``."""

    kind: str
    output: str
    share: float
    tokens: int


class Network:
    """Each method adds something and returns the name of its output. "batch" in a shape is the open dimension.

    Training minimises the sum of ``losses``. While ``frozen`` is set, weights are made that training leaves as they
    are.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[Any] = []
        self.weights: dict[str, Weight] = {}
        self.losses: list[Loss] = []
        self.frozen = False
        self._names: set[str] = set()
        self._constants: dict[str, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._scope: list[tuple[str, str]] = []  # (name for nodes, name for weights)

    @contextmanager
    def scope(self, name: str, *, weights: str | None = None) -> Iterator[None]:
        """Names of what is added inside begin with ``name`` and a point; those of weights with ``weights`` where it is
        given, so that a layer can be used again."""
        self._scope.append((name, name if weights is None else weights))
        yield
        self._scope.pop()

    def named(self, name: str) -> str:
        """``name`` of a node under the open scopes."""
        return ".".join([*(scope for scope, _ in self._scope), name])

    def input(self, name: str, shape: Shape, dtype: str = "float32") -> str:
        """An input of the model; its name has no scope."""
        self._inputs.append(helper.make_tensor_value_info(name, _type(dtype), list(shape)))
        return name

    def output(
        self, name: str, tensor: str, shape: Shape, *, loss: str | None = None, share: float = 1.0, tokens: int = 0
    ) -> None:
        """Give the float32 ``tensor`` out under ``name``; ``loss`` says how training uses it, with what ``share`` of
        the sum and against how many ``tokens``."""
        for node in self.nodes:
            node.output[:] = [name if made == tensor else made for made in node.output]
            node.input[:] = [name if read == tensor else read for read in node.input]
        self._outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape)))
        if loss is not None:
            self.losses.append(Loss(loss, name, share, tokens))

    def node(self, op: str, name: str, inputs: Sequence[str], **attributes: Any) -> str:
        """A node with one output."""
        return self.split(op, name, inputs, 1, **attributes)[0]

    def split(self, op: str, name: str, inputs: Sequence[str], outputs: int, **attributes: Any) -> list[str]:
        """A node with several outputs."""
        full = self.named(name)
        made = [f"{full}.out" if outputs == 1 else f"{full}.out{i}" for i in range(outputs)]
        if full in self._names:
            raise ValueError(f"two nodes are called {full}")
        self._names.add(full)
        self.nodes.append(helper.make_node(op, list(inputs), made, name=full, **attributes))
        return made

    def weight(self, name: str, shape: Sequence[int], start: Start, *, trained: bool = True) -> str:
        """A weight, by its rule; the same one when it is asked for again."""
        full = ".".join([*(weights for _, weights in self._scope), name])
        weight = Weight(tuple(shape), start, trained and not self.frozen)
        if self.weights.setdefault(full, weight) != weight:
            raise ValueError(f"two weights are called {full}")
        return full

    def constant(self, values: Any, dtype: str = "int64") -> str:
        """Values that are part of the structure (shapes, masks, indices); equal ones are held once."""
        array = np.asarray(values, dtype)
        digest = hashlib.sha256(repr((array.shape, dtype)).encode() + array.tobytes()).hexdigest()[:16]
        name = f"constant.{digest}"
        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(array, name)
        return name

    @property
    def parameters(self) -> int:
        return sum(weight.elements for weight in self.weights.values())

    def model(self, *, values: bool) -> Any:
        """A ModelProto: whole with ``values``, else with weights that have a shape and no data."""
        graph = helper.make_graph(
            self.nodes, self.name, self._inputs, self._outputs,
            [*self._constants.values(), *(_tensor(name, w, values) for name, w in self.weights.items())],
        )  # fmt: skip
        domains = sorted({node.domain for node in self.nodes} - {""})
        opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in domains)]
        return helper.make_model(graph, opset_imports=opsets, producer_name="podium", ir_version=IR_VERSION)

    def trains(self, name: str) -> bool:
        """Whether training changes the initializer ``name``: a constant never is."""
        return name in self.weights and self.weights[name].trained

    def values(self, name: str) -> np.ndarray:
        """The weight or the constant ``name`` as numbers."""
        if name in self._constants:
            return numpy_helper.to_array(self._constants[name])
        weight = self.weights[name]
        return drawn(name, weight.shape, weight.start)


def _type(dtype: str) -> int:
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def _tensor(name: str, weight: Weight, values: bool) -> Any:
    if values:
        return numpy_helper.from_array(drawn(name, weight.shape, weight.start), name)
    return TensorProto(name=name, dims=weight.shape, data_type=TensorProto.FLOAT)
