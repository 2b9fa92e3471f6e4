"""From a JAX primitive with its shapes to a Kind with the attributes that the planner needs. It does not import JAX.

Views (reshape, broadcast, slice...) cost nothing by themselves on an IPU: they only rename where bytes are, so they
become aliases. What it cannot name becomes FALLBACK, which the report lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from simulator.graph.graph import Kind

ELEMENTWISE = frozenset({
    "abs", "acos", "acosh", "add", "add_any", "and", "asin", "asinh", "atan", "atan2", "atanh", "bessel_i0e",
    "bessel_i1e", "bitcast_convert_type", "cbrt", "ceil", "clamp", "convert_element_type", "cos", "cosh",
    "digamma", "div", "eq", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "ge", "gt", "integer_pow",
    "is_finite", "le", "lgamma", "log", "log1p", "logistic", "lt", "max", "min", "mul", "ne", "neg", "nextafter",
    "not", "or", "population_count", "pow", "real", "rem", "round", "rsqrt", "select_n", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan",
    "tanh", "xor",
})  # fmt: skip
VIEWS = frozenset({
    "reshape", "split", "squeeze", "expand_dims", "broadcast_in_dim", "slice", "stop_gradient", "copy", "copy_p",
    "reduce_precision", "random_fold_in", "random_wrap", "random_unwrap", "optimization_barrier", "pvary",
})  # fmt: skip
MOVEMENTS = frozenset({
    "transpose", "concatenate", "pad", "rev", "dynamic_slice", "dynamic_update_slice", "iota", "stack",
    "unstack",
})  # fmt: skip
REDUCTIONS = frozenset({
    "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or", "reduce_xor", "argmax",
    "argmin", "reduce",
})  # fmt: skip
CUMULATIVE = frozenset({
    "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp",
})  # fmt: skip

# cycles an element roughly rise in this order: the last function of a chain that is listed names it
COST_ORDER = (
    "convert_element_type", "add", "sub", "add_any", "mul", "max", "min", "select_n", "abs", "neg", "sign", "and",
    "or", "not", "floor", "ceil", "round", "square", "integer_pow", "div", "rem", "sqrt", "rsqrt", "exp", "log",
    "logistic", "tanh", "erf", "sin", "cos", "pow",
)  # fmt: skip


class Aval(NamedTuple):
    """What classification needs of a value."""

    shape: tuple[int, ...]
    dtype: str
    itemsize: int

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


class Described(NamedTuple):
    kind: Kind
    attributes: dict[str, Any]


Describe = Callable[[dict[str, Any], list[Aval], list[Aval]], Described]


def describe(primitive: str, params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    """The kind and attributes of one primitive that is not a view."""
    if primitive in ELEMENTWISE:
        return elementwise(primitive, inputs, outputs)
    if primitive in REDUCTIONS:
        return _reduce(primitive, inputs, outputs)
    if primitive in MOVEMENTS:
        written = inputs[1:2] if primitive == "dynamic_update_slice" else outputs  # the rest stays where it is
        return Described(Kind.MOVEMENT, {"op": primitive, "bytes": sum(o.elements * o.itemsize for o in written)})
    if primitive in DESCRIBERS:
        return DESCRIBERS[primitive](params, inputs, outputs)
    if primitive.startswith("random_"):
        return Described(Kind.RANDOM, {"elements": max(1, sum(o.elements for o in outputs))})
    return fallback(primitive, inputs, outputs)


def fallback(primitive: str, inputs: list[Aval], outputs: list[Aval]) -> Described:
    """A primitive that nothing better is known of."""
    elements = max([1, *(v.elements for v in inputs), *(v.elements for v in outputs)])
    return Described(Kind.FALLBACK, {"op": primitive, "elements": elements})


def elementwise(primitive: str, inputs: list[Aval], outputs: list[Aval]) -> Described:
    arity = max(1, sum(1 for v in inputs if v.elements > 1))
    return Described(
        Kind.ELEMENTWISE,
        {
            "function": primitive,
            "functions": (primitive,),
            "depth": 1,
            "elements": max(1, outputs[0].elements),
            "arity": arity,
        },
    )


def costliest(functions: tuple[str, ...]) -> str:
    """The function of a fused chain that takes longest."""
    return max(functions, key=lambda f: COST_ORDER.index(f) if f in COST_ORDER else len(COST_ORDER))


def _reduce(primitive: str, inputs: list[Aval], outputs: list[Aval]) -> Described:
    read, written = max(1, inputs[0].elements), max(1, outputs[0].elements)
    return Described(
        Kind.REDUCE, {"op": primitive, "inputs": read, "outputs": written, "depth": max(1, read // written)}
    )


def _dot(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    (lhs_contract, rhs_contract), (lhs_batch, _) = params["dimension_numbers"]
    lhs, rhs = inputs[0].shape, inputs[1].shape
    batch = math.prod(lhs[d] for d in lhs_batch)
    k = math.prod(lhs[d] for d in lhs_contract)
    m = inputs[0].elements // max(1, batch * k)
    n = math.prod(rhs) // max(1, batch * math.prod(rhs[d] for d in rhs_contract))
    # the matrix unit wants the summed dimension innermost on both sides: what is not must be relaid
    relaid = (_last(lhs_contract) != len(lhs) - 1, _last(rhs_contract) != len(rhs) - 1)
    sizes = {"batch": max(1, batch), "m": max(1, m), "k": max(1, k), "n": max(1, n)}
    return Described(Kind.MATMUL, {**sizes, "relaid": relaid})


def _last(dims: tuple[int, ...]) -> int:
    return max(dims, default=-1)


def _conv(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    lhs_spec, rhs_spec, out_spec = params["dimension_numbers"]
    lhs, rhs, out = inputs[0].shape, inputs[1].shape, outputs[0].shape
    features, per_batch = params["feature_group_count"], params["batch_group_count"]
    groups = features * per_batch
    # weight updates read both sides with batch and channels exchanged, slopes of inputs their weights
    updating = lhs_spec[0] != 0
    return Described(
        Kind.CONV,
        {
            "relaid": (updating, updating or rhs_spec[0] != 0),
            "batch": lhs[lhs_spec[0]] // per_batch,
            "groups": groups,
            "in_channels": rhs[rhs_spec[1]],
            "out_channels": rhs[rhs_spec[0]] // groups,
            "field_in": tuple(lhs[d] for d in lhs_spec[2:]),
            "field_out": tuple(out[d] for d in out_spec[2:]),
            "kernel": tuple(rhs[d] for d in rhs_spec[2:]),
            "stride": tuple(int(s) for s in params["window_strides"]),
            "dilation": tuple(int(s) for s in params["rhs_dilation"]),
            "input_dilation": tuple(int(s) for s in params["lhs_dilation"]),
        },
    )


def _pool(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    window = math.prod(int(w) for w in params["window_dimensions"])
    shape = outputs[0].shape
    attributes = {"op": "window", "outputs": max(1, outputs[0].elements), "window": window}
    return Described(Kind.POOL, {**attributes, "channels": shape[1] if len(shape) > 1 else 1})


def _gather(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    rows = _index_rows(inputs[1])
    return Described(Kind.GATHER, _rows("gather", rows, max(1, outputs[0].elements // rows), inputs[0], params))


def _scatter(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    rows = _index_rows(inputs[1])
    return Described(Kind.SCATTER, _rows("scatter", rows, max(1, inputs[2].elements // rows), inputs[0], params))


def _index_rows(indices: Aval) -> int:
    return max(1, math.prod(indices.shape[:-1]))


def _rows(op: str, rows: int, row_elements: int, table: Aval, params: dict[str, Any]) -> dict[str, Any]:
    """``groups``: lookups of each meet only their own part of the table."""
    numbers = params.get("dimension_numbers")
    groups = math.prod(table.shape[d] for d in getattr(numbers, "operand_batching_dims", ()))
    table_rows = max(1, table.elements // row_elements)
    return {"op": op, "rows": rows, "row_elements": row_elements, "table_rows": table_rows, "groups": max(1, groups)}


def _sort(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    columns = inputs[0].shape[params.get("dimension", -1)] if inputs[0].shape else 1
    return Described(Kind.SORT, {"rows": max(1, inputs[0].elements // max(1, columns)), "columns": max(1, columns)})


def _top_k(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    sorted_ = _sort({"dimension": -1}, inputs, outputs)
    return Described(Kind.SORT, {**sorted_.attributes, "kept": max(1, int(params["k"]))})


def _cumulative(params: dict[str, Any], inputs: list[Aval], outputs: list[Aval]) -> Described:
    return Described(
        Kind.REDUCE,
        {"op": "cumulative", "inputs": max(1, inputs[0].elements), "outputs": max(1, outputs[0].elements), "depth": 1},
    )


DESCRIBERS: dict[str, Describe] = {
    "dot_general": _dot,
    "conv_general_dilated": _conv,
    "gather": _gather,
    "scatter": _scatter,
    "scatter-add": _scatter,
    "scatter_add": _scatter,
    "scatter-mul": _scatter,
    "scatter_mul": _scatter,
    "scatter_min": _scatter,
    "scatter_max": _scatter,
    "sort": _sort,
    "top_k": _top_k,
    **dict.fromkeys(
        ("reduce_window", "reduce_window_max", "reduce_window_min", "reduce_window_sum", "select_and_scatter_add"),
        _pool,
    ),
    "select_and_gather_add": _pool,
    **dict.fromkeys(CUMULATIVE, _cumulative),
}
