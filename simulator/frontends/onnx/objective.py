"""Chooses what training minimises: the first float output of the batch, read before its last softmax."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.frontends.onnx.plan import ModelPlan, NodePlan
from simulator.program import Objective


def objective_of(plan: ModelPlan, shapes: Mapping[str, Any], batch: int) -> Objective | None:
    """None when no output is a float tensor with the batch in front.

    A softmax at the end, or an output of two dimensions with at least two columns, means classes; anything else is
    fitted by mean squared error.
    """
    for name, value in shapes.items():
        shape = tuple(int(d) for d in value.shape)
        if value.dtype.kind != "f" or not shape or shape[0] != batch or 0 in shape:
            continue
        softmax = _last_softmax(plan, name)
        if softmax is not None and len(shape) == 2:
            return Objective("cross_entropy", softmax.inputs[0], shape)
        if len(shape) == 2 and shape[1] >= 2:
            return Objective("cross_entropy", name, shape)
        return Objective("mean_squared_error", name, shape)
    return None


def _last_softmax(plan: ModelPlan, name: str) -> NodePlan | None:
    """The softmax over the last of two axes that produces ``name``, if its input is of the same shape."""
    node = plan.producers.get(name)
    if node is None or node.op.name not in ("Softmax", "LogSoftmax"):
        return None
    axis = int(node.attributes.get("axis", -1 if node.opset >= 13 else 1))
    return node if axis in (-1, 1) else None
