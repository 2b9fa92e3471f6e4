"""The list of built-in models and how to build one. It imports ONNX only when a model is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from simulator.errors import SimulatorError

PREFIX = "zoo:"


@dataclass(frozen=True)
class ZooModel:
    """``parameters`` counts weights, running statistics included;
    ``inputs`` are (name, shape) with "batch" for the open dimension.
    """

    id: str
    name: str
    description: str
    parameters: int
    inputs: tuple[tuple[str, tuple[int | str, ...]], ...]
    source: str
    trainable: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "inputs": [{"name": name, "shape": list(shape)} for name, shape in self.inputs],
            "source": self.source,
            "trainable": self.trainable,
        }


ZOO: tuple[ZooModel, ...] = (
    ZooModel(
        id="zoo:mnist",
        name="MNIST convolutional network",
        description="Two 3x3 convolutions with max pooling and two dense layers over 28x28 grey images, ten classes.",
        parameters=225_034,
        inputs=(("image", ("batch", 1, 28, 28)),),
        source="The network of Graphcore's PyTorch MNIST example for IPUs, without its dropout",
    ),
    ZooModel(
        id="zoo:resnet50",
        name="ResNet-50 v1.5",
        description="Fifty layers of bottleneck blocks over 224x224 colour images, a thousand classes. Of its weights "
        "53,120 are running statistics.",
        parameters=25_610_152,
        inputs=(("image", ("batch", 3, 224, 224)),),
        source="He et al. 2015, arXiv 1512.03385, table 1; strides as in MLPerf Training's image classification (v1.5)",
    ),
)
MODULES = {"zoo:mnist": "simulator.zoo.mnist", "zoo:resnet50": "simulator.zoo.resnet50"}


def is_zoo(model: str) -> bool:
    return model.startswith(PREFIX)


def build_zoo(name: str) -> bytes:
    """ONNX bytes of a built-in model, always the same. Raises ``model.unknown_zoo``."""
    key = name if is_zoo(name) else PREFIX + name
    if key not in MODULES:
        known = ", ".join(MODULES)
        raise SimulatorError(
            "model.unknown_zoo",
            f"There is no built-in model '{name[:100]}'. Use one of {known}.",
            params={"name": name[:100]},
        )
    return _built(key)


@cache
def _built(key: str) -> bytes:
    build: Callable[[], bytes] = import_module(MODULES[key]).build
    return build()
