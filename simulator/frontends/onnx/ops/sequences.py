"""Sequences and optional values: Python lists and None while tracing; a device never sees them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call, xp
from simulator.frontends.onnx.registry import op


@op("SequenceConstruct")
def construct(call: Call, *values: Any) -> Any:
    return list(values)


@op("SequenceEmpty")
def empty(call: Call) -> Any:
    return []


def _place(call: Call, sequence: Any, position: Any, last: int) -> int:
    at = call.integers(position, "position")[0]
    if not -len(sequence) <= at <= last:
        raise call.invalid(f"reads position {at} of a sequence of {len(sequence)}")
    return at


@op("SequenceAt", static=(1,))
def at(call: Call, sequence: Any, position: Any) -> Any:
    return sequence[_place(call, sequence, position, len(sequence) - 1)]


@op("SequenceInsert", static=(2,))
def insert(call: Call, sequence: Any, value: Any, position: Any = None) -> Any:
    where = len(sequence) if position is None else _place(call, sequence, position, len(sequence))
    return [*sequence[:where], value, *sequence[where:]]


@op("SequenceErase", static=(1,))
def erase(call: Call, sequence: Any, position: Any = None) -> Any:
    where = (len(sequence) if position is None else _place(call, sequence, position, len(sequence) - 1)) or 0
    where = where - 1 if position is None else where % len(sequence)
    return [*sequence[:where], *sequence[where + 1 :]]


@op("SequenceLength")
def length(call: Call, sequence: Any) -> Any:
    return np.asarray(len(sequence), np.int64)


@op("ConcatFromSequence")
def join(call: Call, sequence: Any) -> Any:
    axis, space = call.required("axis"), xp(*sequence)
    return space.stack(sequence, axis) if call.attr("new_axis", 0) else space.concatenate(sequence, axis)


@op("SplitToSequence", static=(1,))
def split(call: Call, x: Any, sizes: Any = None) -> Any:
    axis = call.attr("axis", 0) % x.ndim
    total = int(x.shape[axis])
    if sizes is None:
        listed, squeeze = [1] * total, not call.attr("keepdims", 1)
    else:
        given, squeeze = call.known(sizes, "sizes"), False
        step = int(given) if given.ndim == 0 else 0
        listed = [min(step, total - i) for i in range(0, total, step)] if step else [int(s) for s in given]
    if len(listed) > call.context.limits.ports or sum(listed) != total:
        raise call.invalid(f"splits {total} into {len(listed)} parts")
    space = xp(x)
    parts = space.split(x, np.cumsum(listed)[:-1].tolist(), axis)
    return [space.squeeze(part, axis) if squeeze else part for part in parts]


@op("SequenceMap")
def sequence_map(call: Call, sequence: Any, *others: Any) -> Any:
    """The body for every element; others are sequences as long, or one value for all."""
    rows = [
        call.branch("body", value, *(o[i] if isinstance(o, list) else o for o in others))
        for i, value in enumerate(sequence)
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return tuple(columns or [[] for _ in call.node.outputs])


@op("Optional")
def optional(call: Call, value: Any = None) -> Any:
    return value


@op("OptionalHasElement")
def has_element(call: Call, value: Any = None) -> Any:
    return np.asarray(value is not None)


@op("OptionalGetElement")
def get_element(call: Call, value: Any) -> Any:
    if value is None:
        raise call.invalid("asks for the value of an optional that has none")
    return value if isinstance(value, list) else jnp.asarray(value)
