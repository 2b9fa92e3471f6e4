"""Runs a GraphPlan on arrays or abstract values, node by node, each in the JAX scope of its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.onnx.call import Call, Context, data_dependent
from simulator.frontends.onnx.plan import GraphPlan, NodePlan
from simulator.program import scope_name

Environment = dict[str, Any]
# what numpy and JAX raise for arrays that do not go together
MISFITS = (
    TypeError, ValueError, IndexError, ArithmeticError, KeyError, NotImplementedError, AssertionError, AttributeError,
)  # fmt: skip
# what JAX raises where the numbers of a traced array are wanted
UNKNOWN_VALUES = (
    jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError, jax.errors.NonConcreteBooleanIndexError,
)  # fmt: skip


def run_graph(
    graph: GraphPlan, values: Environment, weights: Environment, context: Context, wanted: Sequence[str] = ()
) -> list[Any]:
    """Outputs of the graph, or the tensors named in ``wanted``. ``values`` holds the inputs and outer names."""
    environment: Environment = {**values, **graph.constants}
    for name, key in graph.weights.items():
        if key in weights:  # a program keeps only those that are read
            environment[name] = weights[key]
    context.keys.update(graph.weights)
    for node in graph.nodes:
        _run_node(node, environment, weights, context)
    names = wanted or graph.outputs
    context.use(names)
    return [environment[name] for name in names]


def _run_node(node: NodePlan, environment: Environment, weights: Environment, context: Context) -> None:
    def branch(inner: GraphPlan, inputs: Sequence[Any]) -> list[Any]:
        scope = {**environment, **dict(zip(inner.inputs, inputs, strict=True))}
        return run_graph(inner, scope, weights, context)

    arguments = [environment[name] if name else None for name in node.inputs]
    context.use(node.inputs)
    call = Call(node, context, branch)
    try:
        with jax.named_scope(scope_name(node.index)):
            results = node.op.function(call, *_in_one_type(node, arguments, context))
    except MISFITS as error:
        raise _misfit(node, arguments, error) from error
    for name, value in zip(node.outputs, results if isinstance(results, tuple) else (results,), strict=False):
        if name:
            environment[name] = _checked(call, value)


def _in_one_type(node: NodePlan, arguments: list[Any], context: Context) -> list[Any]:
    """Floats in the type of the run: a file's own constants and casts may be of another precision."""
    traced = [a for a in arguments if isinstance(a, jax.Array)]
    if context.exact or not traced:
        return arguments
    met = {a.dtype for a in traced if np.issubdtype(a.dtype, np.floating)}
    if context.float_type is None and len(met) != 1:
        return arguments
    dtype = met.pop() if context.float_type is None else context.float_type

    def fitted(position: int, value: Any) -> Any:
        inexact = np.issubdtype(getattr(value, "dtype", None) or object, np.floating)
        return value.astype(dtype) if inexact and position not in node.op.static else value

    return [fitted(position, value) for position, value in enumerate(arguments)]


def _checked(call: Call, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):  # a sequence
        return [_checked(call, part) for part in value]
    if isinstance(value, np.generic | int | float):
        return np.asarray(value)
    if not isinstance(value, np.ndarray):
        call.claim(value.shape, value.dtype.itemsize)
    return value


def _misfit(node: NodePlan, arguments: Sequence[Any], error: Exception) -> SimulatorError:
    """A refusal in words of ours: what numpy and JAX say is about arrays that the user has never seen."""
    if isinstance(error, UNKNOWN_VALUES):
        return data_dependent(node, "values")
    given = [a for a in arguments if a is not None]
    shapes = [list(getattr(a, "shape", ())) for a in given]
    shown = " and ".join(_shown(a) for a in given[:6]) or "no inputs"
    return SimulatorError(
        "model.shape_mismatch",
        f"Node '{node.label}' ({node.op.name}) cannot work on {shown}. If sizes of open dimensions were given, give "
        "those that the model was made for; else correct the model and export it again.",
        params={"node": node.label, "op": node.op.name, "shapes": shapes[:16]},
    )


def _shown(argument: Any) -> str:
    """Type and shape of a tensor, such as ``float32 [2, 64, 100]``."""
    if isinstance(argument, list):
        return f"a sequence of {len(argument)}"
    shape = list(getattr(argument, "shape", ()))[:8]
    return f"{np.dtype(argument.dtype).name} {shape}" if hasattr(argument, "dtype") else "one value"
