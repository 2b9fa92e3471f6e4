"""What a front end makes and every later stage starts from. It knows no file format, no loss and no machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Values = Mapping[str, Any]  # name -> array: concrete, or abstract while tracing
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class TensorSpec:
    """An input or output with every dimension bound. ``dtype`` is a numpy name as the model declares it."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class WeightSpec:
    """A weight that need not be loaded to be costed. Only trainable ones get gradients; ``product`` ones are read by
    matrix products alone, and so may be stored in 8 bits."""

    shape: tuple[int, ...]
    dtype: str
    trainable: bool = True
    product: bool = False

    @property
    def elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass(frozen=True)
class Mode:
    """How a program is called. ``key`` is a JAX random key, needed only where training uses chance (dropout).

    ``on_host``: a CPU computes it, so what is slow there may be put another way; never when it is traced to be costed.
    """

    training: bool = False
    key: Any = None
    on_host: bool = False


@dataclass(frozen=True)
class Objective:
    """What training minimises: ``kind`` "cross_entropy" (rows of scores against class numbers), "ctc" (scores [batch,
    time, classes] against ``tokens`` class numbers in order, class 0 being the blank), "mean_squared_error", or "mean"
    of an output that is a loss itself; ``tensor`` is the output it reads, with the last softmax taken off where there
    was one. ``others`` are added to it, each with its ``share``."""

    kind: str
    tensor: str
    shape: tuple[int, ...]
    share: float = 1.0
    tokens: int = 0
    others: tuple[Objective, ...] = ()

    @property
    def parts(self) -> tuple[Objective, ...]:
        """Itself and the others; labels come in this order, and alone where there is one."""
        return (self, *self.others)

    @property
    def classes(self) -> int:
        return self.shape[-1] if self.shape else 1


@dataclass(frozen=True)
class Program:
    """A traceable function with named weights.

    ``function(weights, inputs, mode)`` returns ``(tensors, updates)``: every output and the objective's tensor by
    name, and new values of weights that change without a gradient (running statistics). ``sources`` are the labels of
    the model's nodes; node ``i`` runs in the JAX scope ``scope_name(i)``.
    """

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    weights: Mapping[str, WeightSpec]
    sources: tuple[str, ...]
    function: Callable[[Values, Values, Mode], tuple[dict[str, Any], dict[str, Any]]]
    loader: Callable[[], dict[str, Array]]
    batch: int = 1
    objective: Objective | None = None
    notes: tuple[tuple[str, str], ...] = field(default=())  # (code, message) for the report

    def call(self, weights: Values, inputs: Values) -> dict[str, Any]:
        """Outputs by name, for inference."""
        tensors, _ = self.function(weights, inputs, Mode())
        return {spec.name: tensors[spec.name] for spec in self.outputs}

    def load_weights(self) -> dict[str, Array]:
        """Concrete weights by name. The only place where their bytes are read."""
        return self.loader()

    @property
    def parameters(self) -> int:
        return sum(spec.elements for spec in self.weights.values())


def scope_name(index: int) -> str:
    """The JAX name scope of node ``index``: names of users never reach JAX."""
    return f"node{index}"
