"""An ONNX file to a Program: parse, check, plan, bind dimensions, and one abstract run that proves every shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.limits import DEFAULT_LIMITS, Limits
from simulator.frontends.onnx.call import Context
from simulator.frontends.onnx.check import check_model
from simulator.frontends.onnx.dims import Port, batch_names, bind, port_of
from simulator.frontends.onnx.external import Folder, folder_of
from simulator.frontends.onnx.functions import inline_functions
from simulator.frontends.onnx.interpreter import run_graph
from simulator.frontends.onnx.objective import objective_of
from simulator.frontends.onnx.opsets import opsets_of
from simulator.frontends.onnx.parse import parse, parse_bytes
from simulator.frontends.onnx.patterns import recognise
from simulator.frontends.onnx.plan import ModelPlan, trips_name
from simulator.frontends.onnx.planning import plan_model, refuse_unsupported
from simulator.frontends.watching import reading
from simulator.program import Mode, Program, TensorSpec, Values

Found = tuple[dict[str, Any], set[str], tuple[tuple[str, str], ...]]  # abstract outputs, weights read, notes


@dataclass(frozen=True)
class Checked:
    """A parsed model that is structurally sound. ``inputs`` leaves out initialisers that old files list as inputs."""

    model: Any
    opsets: dict[str, int]
    inputs: list[Port]
    outputs: list[Port]
    folder: Folder | None = None


def read(source: Path | bytes, limits: Limits = DEFAULT_LIMITS, *, tensors_only: bool = True) -> Checked:
    """Parse and check a file, or bytes of ours. Raises SimulatorError ``model.*``.

    ``tensors_only`` refuses sequences, optional values and strings at the model's edge: a device has no place for them.
    """
    model = parse_bytes(source) if isinstance(source, bytes) else parse(source, limits)
    opsets = opsets_of(model)
    model = inline_functions(model, limits)
    folder = None if isinstance(source, bytes) else folder_of(source)
    check_model(model, opsets, limits, folder)
    held = {tensor.name for tensor in model.graph.initializer}
    inputs = [port_of(v, limits, tensors_only=tensors_only) for v in model.graph.input if v.name not in held]
    outputs = [port_of(v, limits, tensors_only=tensors_only) for v in model.graph.output]
    return Checked(model, opsets, inputs, outputs, folder)


def load(
    source: Path | bytes,
    *,
    name: str,
    batch: int,
    dims: Mapping[str, int] | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Program:
    """A Program for ``batch`` samples. Raises SimulatorError ``model.*`` or ``config.batch_fixed``."""
    with reading():
        checked = read(source, limits)
        return bind_program(checked, name=name, batch=batch, dims=dims or {}, limits=limits, recognising=True)


def bind_program(
    checked: Checked,
    *,
    name: str,
    batch: int,
    dims: Mapping[str, int],
    limits: Limits = DEFAULT_LIMITS,
    recognising: bool = False,
    declared: bool = False,
) -> Program:
    """As ``load``, for a model already read; decomposed composites are put together where ``recognising``.

    ``declared``: the outputs have the shapes that a model of ours declares, and every weight is read, so that no
    abstract run has to find out.
    """
    refuse_unsupported(checked.model.graph)
    plan = plan_model(checked.model, checked.opsets, limits, checked.folder)
    plan = recognise(plan) if recognising else plan
    trips = {name: size for name, size in dims.items() if name in map(trips_name, plan.loops)}
    dims = {name: size for name, size in dims.items() if name not in trips}
    inputs = bind(checked.inputs, dims, batch, limits)
    if any(d in dims for d in batch_names(checked.inputs)):
        batch = next(dims[d] for d in sorted(batch_names(checked.inputs)) if d in dims)
    if batch_names(checked.inputs) and declared:
        return _made(
            _Bound(plan, inputs, limits, None, trips), checked, name, batch, *_as_declared(checked, plan, batch)
        )
    if batch_names(checked.inputs):
        return _program(_Bound(plan, inputs, limits, None, trips), checked, name, batch)
    return _fixed(_Bound(plan, inputs, limits, None, trips), checked, name, batch)


def float_type(weights: Values, inputs: Values) -> Any:
    """The one type of all floats that a run is given, None when there are several or none."""
    met = {v.dtype for v in (*weights.values(), *inputs.values()) if np.issubdtype(v.dtype, np.floating)}
    return met.pop() if len(met) == 1 else None


@dataclass(frozen=True)
class _Bound:
    """The traceable function of a plan."""

    plan: ModelPlan
    inputs: tuple[TensorSpec, ...]
    limits: Limits
    rebatched: tuple[int, int] | None
    trips: Mapping[str, int]
    extra: tuple[str, ...] = ()  # tensors wanted besides the outputs

    def __call__(self, weights: Values, inputs: Values, mode: Mode) -> tuple[dict[str, Any], dict[str, Any]]:
        names = (*self.plan.graph.outputs, *self.extra)
        context = self._context(mode, weights, inputs)
        values = run_graph(self.plan.graph, dict(inputs), dict(weights), context, names)
        return dict(zip(names, values, strict=True)), context.updates

    def _context(self, mode: Mode, weights: Values, inputs: Values) -> Context:
        kind = float_type(weights, inputs)
        return Context(mode, self.limits, kind, rebatched=self.rebatched, trips=self.trips)

    def abstract(self) -> Found:
        """Abstract outputs by name, the weights that are really read, and notes for the report."""
        used: set[str] = set()
        notes: dict[str, str] = {}

        def run(weights: Values, inputs: Values) -> list[Any]:
            context = self._context(Mode(), weights, inputs)
            values = run_graph(self.plan.graph, dict(inputs), dict(weights), context)
            used.update(context.used)
            notes.update(context.notes)
            return [jax.numpy.asarray(v) for v in values]

        weights = {k: jax.ShapeDtypeStruct(w.shape, w.dtype) for k, w in self.plan.weights.items()}
        inputs = {s.name: jax.ShapeDtypeStruct(s.shape, s.dtype) for s in self.inputs}
        shapes = jax.eval_shape(run, weights, inputs)
        told = tuple((code, message) for message, code in notes.items())
        return dict(zip(self.plan.graph.outputs, shapes, strict=True)), used, told


def _as_declared(checked: Checked, plan: ModelPlan, batch: int) -> Found:
    """What ``abstract`` would find of a model that keeps to its declarations; every open size is the batch."""
    shapes = {
        port.name: jax.ShapeDtypeStruct([batch if isinstance(d, str) else d for d in port.shape or ()], port.dtype)
        for port in checked.outputs
    }
    return shapes, set(plan.weights), ()


def _program(bound: _Bound, checked: Checked, name: str, batch: int) -> Program:
    return _made(bound, checked, name, batch, *bound.abstract())


def _made(
    bound: _Bound,
    checked: Checked,
    name: str,
    batch: int,
    shapes: Mapping[str, Any],
    used: set[str],
    notes: tuple[tuple[str, str], ...],
) -> Program:
    outputs = tuple(TensorSpec(p.name, tuple(shapes[p.name].shape), p.dtype) for p in checked.outputs)
    objective = objective_of(bound.plan, shapes, batch)
    if objective is not None and objective.tensor not in shapes:
        bound = replace(bound, extra=(objective.tensor,))
    weights = {key: spec for key, spec in bound.plan.weights.items() if key in used}
    loaders = {key: bound.plan.loaders[key] for key in weights}

    def load_weights() -> dict[str, np.ndarray]:
        return {key: read_weight() for key, read_weight in loaders.items()}

    return Program(
        name=name,
        inputs=bound.inputs,
        outputs=outputs,
        weights=weights,
        sources=bound.plan.labels,
        function=bound,
        loader=load_weights,
        batch=batch,
        objective=objective,
        notes=(*bound.plan.notes, *notes),
    )


def _fixed(bound: _Bound, checked: Checked, name: str, batch: int) -> Program:
    """A model exported with a fixed leading dimension: run as it is, or widened from 1 when every output follows."""
    sizes = {spec.shape[0] for spec in bound.inputs if spec.shape}
    exported = sizes.pop() if len(sizes) == 1 else 1
    if exported == batch:
        return _program(bound, checked, name, exported)
    narrow = _program(bound, checked, name, exported)
    if exported != 1:  # a larger leading dimension may be time as well as a batch
        raise _batch_fixed(exported)
    wider = tuple(replace(s, shape=(batch, *s.shape[1:])) if s.shape else s for s in bound.inputs)
    widened = replace(bound, inputs=wider, rebatched=(exported, batch))
    try:
        program = _program(widened, checked, name, batch)
    except SimulatorError as error:
        raise _batch_fixed(exported) from error
    for before, after in zip(narrow.outputs, program.outputs, strict=True):
        if before.shape[:1] != (exported,) or after.shape != (batch, *before.shape[1:]):
            raise _batch_fixed(exported)
    note = f"The model was exported with a fixed batch of {exported}; it was widened to {batch}."
    return replace(program, notes=(*program.notes, ("model.batch_widened", note)))


def _batch_fixed(exported: int) -> SimulatorError:
    return SimulatorError(
        "config.batch_fixed",
        f"This model works on a batch of {exported} and no other. Set batch to {exported}, or export it with a dynamic "
        "batch axis.",
        params={"batch": exported, "field": "batch"},
    )
