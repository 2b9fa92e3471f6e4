"""Runs an ONNX model on given values, exactly as the file says: for checking operators, not for costing.

A device compiles for fixed shapes, so the model is compiled first, with the inputs that decide shapes held fixed; a
model whose shapes depend on computed values is run operator by operator instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.limits import DEFAULT_LIMITS, Limits
from simulator.frontends.onnx.call import Context
from simulator.frontends.onnx.dims import Port
from simulator.frontends.onnx.importer import read
from simulator.frontends.onnx.interpreter import run_graph
from simulator.frontends.onnx.planning import plan_model, refuse_unsupported
from simulator.frontends.onnx.static import static_names
from simulator.frontends.onnx.tensors import STRING
from simulator.program import Mode


class Executor:
    """One model, ready to run. Raises SimulatorError ``model.*`` when it is damaged or not supported."""

    def __init__(self, source: Path | bytes, limits: Limits = DEFAULT_LIMITS) -> None:
        checked = read(source, limits, tensors_only=False)
        refuse_unsupported(checked.model.graph)
        self._plan = plan_model(checked.model, checked.opsets, limits, checked.folder)
        self._static = static_names(checked.model.graph)
        self._limits = limits
        self._weights = {key: load() for key, load in self._plan.loaders.items()}
        self.inputs = [port.name for port in checked.inputs]
        self._outputs = checked.outputs
        self._plain = all(p.kind == "tensor" and p.dtype != STRING for p in (*checked.inputs, *checked.outputs))

    def run(self, inputs: Mapping[str, Any]) -> list[Any]:
        """Outputs in the order and the types that the model declares; a sequence is a list, nothing is None."""
        with jax.enable_x64(True):
            values = self._compiled(inputs) if self._plain else None
            if values is None:
                values = self._graph({n: _placed(w) for n, w in self._weights.items()}, _placed(dict(inputs)))
            return [_declared(port, value) for port, value in zip(self._outputs, values, strict=True)]

    def _compiled(self, inputs: Mapping[str, Any]) -> list[Any] | None:
        """Outputs of the compiled model, or None when its shapes depend on values."""
        fixed = {name: np.asarray(value) for name, value in inputs.items() if name in self._static}
        free = {name: value for name, value in inputs.items() if name not in fixed}
        run = jax.jit(lambda weights, values: self._graph(weights, {**values, **fixed}))
        try:
            return list(run(self._weights, free))
        except SimulatorError as error:
            if error.code != "model.data_dependent":
                raise
            return None

    def _graph(self, weights: dict[str, Any], values: dict[str, Any]) -> list[Any]:
        return run_graph(self._plan.graph, values, weights, Context(Mode(), self._limits, exact=True))


def _placed(value: Any) -> Any:
    """Arrays on the device, also inside sequences; strings stay where they are."""
    if isinstance(value, dict):
        return {name: _placed(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_placed(part) for part in value]
    if value is None or np.asarray(value).dtype.kind in "OSU":
        return value
    return jnp.asarray(value)


def _declared(port: Port, value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [np.asarray(part) for part in value]
    if value is None or port.kind != "tensor":
        return None if value is None else np.asarray(value)
    return np.asarray(value) if port.dtype == STRING else np.asarray(value).astype(port.dtype)
