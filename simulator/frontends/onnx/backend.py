"""The backend interface of the onnx package over our executor, so that its conformance tests can be run against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto
from onnx.backend.base import Backend, BackendRep

from simulator.frontends.onnx.executor import Executor


class Prepared(BackendRep):
    """A model ready to run on lists of values in the order of its inputs, or on a mapping by name."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def run(self, inputs: Sequence[Any] | Mapping[str, Any], **_: Any) -> tuple[Any, ...]:
        """Outputs in the model's order. Raises SimulatorError."""
        named = inputs if isinstance(inputs, Mapping) else dict(zip(self._executor.inputs, inputs, strict=False))
        return tuple(self._executor.run(named))


class PodiumBackend(Backend):
    """``PodiumBackend.prepare(model).run(inputs)``, on the CPU."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "CPU", **_: Any) -> Prepared:
        """Raises SimulatorError when the model is damaged or not supported."""
        return Prepared(Executor(model.SerializeToString()))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device == "CPU"
