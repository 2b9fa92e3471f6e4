"""Recognises what exporters took apart: GELU, SiLU, layer and root-mean-square norms, softmax.

Each pattern looks at the node that ends it and walks back; the first that fits replaces its nodes by one operator, so
that the composite is costed and saved as a whole. Numbers stay the same up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from simulator.frontends.onnx.matching import Expressions, Match, near
from simulator.frontends.onnx.plan import ModelPlan, NodePlan
from simulator.frontends.onnx.registry import find

Pattern = Callable[[Expressions, NodePlan], Match | None]
OWN = "podium"  # domain of operators that only a pattern makes


def silu(e: Expressions, root: NodePlan) -> Match | None:
    """x * sigmoid(x)."""
    if root.op.name != "Mul":
        return None
    for x, other in (root.inputs, root.inputs[::-1]):
        gate = e.made_by(other, "Sigmoid")
        if gate is not None and gate.inputs[0] == x:
            return Match(("", "Swish"), (x,), opset=24)
    return None


def gelu(e: Expressions, root: NodePlan) -> Match | None:
    """0.5 * x * (1 + erf(x / sqrt 2)), or (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))), in any order."""
    if root.op.name not in ("Mul", "Div"):
        return None
    number, factors = e.factors(root.outputs[0])
    if len(factors) != 2 or not near(number, 0.5):
        return None
    for x, other in (factors, factors[::-1]):
        one = e.terms(other)
        if one is None or not near(one[0], 1.0):
            continue
        curve = e.made_by(one[1], "Erf", "Tanh")
        if curve is not None and curve.op.name == "Erf" and e.factors(curve.inputs[0]) is not None:
            inner, of = e.factors(curve.inputs[0])
            if of == [x] and near(inner, 1 / math.sqrt(2)):
                return Match(("", "Gelu"), (x,))
        elif curve is not None and _tanh_argument(e, curve.inputs[0], x):
            return Match(("", "Gelu"), (x,), {"approximate": b"tanh"})
    return None


def _tanh_argument(e: Expressions, name: str, x: str) -> bool:
    """sqrt(2 / pi) * (x + 0.044715 x^3), or with x taken out: sqrt(2 / pi) * x * (1 + 0.044715 x^2)."""
    number, factors = e.factors(name)
    if not near(number, math.sqrt(2 / math.pi)):
        return False
    if len(factors) == 1:
        add = e.made_by(factors[0], "Add")
        if add is None or x not in add.inputs:
            return False
        other = add.inputs[1] if add.inputs[0] == x else add.inputs[0]
        return near(_power_of(e, other, x, 3), 0.044715)
    if sorted(factors, key=lambda f: f != x)[0] != x or len(factors) != 2:
        return False
    terms = e.terms(factors[1] if factors[0] == x else factors[0])
    return terms is not None and near(terms[0], 1.0) and near(_power_of(e, terms[1], x, 2), 0.044715)


def _power_of(e: Expressions, name: str, x: str, power: int) -> float:
    """The number before x to ``power``; NaN when it is something else."""
    number, factors = e.factors(name)
    found = 0
    for factor in factors:
        raised = e.made_by(factor, "Pow") if factor != x else None
        if raised is not None and raised.inputs[0] == x:
            found += int(e.scalar(raised.inputs[1]) or 0)
        elif factor == x:
            found += 1
        else:
            return math.nan
    return number if found == power else math.nan


def layer_norm(e: Expressions, root: NodePlan) -> Match | None:
    """(x - mean) / sqrt(variance + epsilon), without scale and shift, which stay operators of their own."""
    parts = _over_root(e, root)
    if parts is None:
        return None
    centred, spread = parts
    x = _centred(e, centred)
    square = _mean_square(e, spread)
    if x is None or square is None or _centred(e, square[0]) != x:
        return None
    mean = e.producer[e.producer[centred].inputs[1]]
    axes = _axes(e, mean)
    if axes is None or axes != square[1]:
        return None
    return Match((OWN, "Normalise"), (x,), {"axes": list(axes), "epsilon": square[2]})


def folded_layer_norm(e: Expressions, root: NodePlan) -> Match | None:
    """x * g + (shift - mean * g), with g = scale / sqrt(variance + epsilon), as TensorFlow writes it."""
    if root.op.name != "Add":
        return None
    for product, rest in (root.inputs, root.inputs[::-1]):
        scaled, less = e.made_by(product, "Mul"), e.made_by(rest, "Sub")
        taken = None if less is None else e.made_by(less.inputs[1], "Mul")
        if scaled is None or less is None or taken is None:
            continue
        for x, gain in (scaled.inputs, scaled.inputs[::-1]):
            mean = e.made_by(next((n for n in taken.inputs if n != gain), ""), "ReduceMean")
            if gain in taken.inputs and mean is not None and mean.inputs[0] == x:
                return _folded(e, x, gain, less.inputs[0], mean)
    return None


def _folded(e: Expressions, x: str, gain: str, shift: str, mean: NodePlan) -> Match | None:
    both = e.made_by(gain, "Mul")
    for turned, scale in () if both is None else (both.inputs, both.inputs[::-1]):
        one_over = e.made_by(turned, "Reciprocal")
        under = None if one_over is None else e.made_by(one_over.inputs[0], "Sqrt")
        square = None if under is None else _mean_square(e, under.inputs[0])
        if square is not None and _centred(e, square[0]) == x and _axes(e, mean) == square[1]:
            return Match((OWN, "Normalise"), (x, scale, shift), {"axes": list(square[1]), "epsilon": square[2]})
    return None


def rms_norm(e: Expressions, root: NodePlan) -> Match | None:
    """x / sqrt(mean of squares + epsilon), without its scale."""
    parts = _over_root(e, root)
    if parts is None:
        return None
    x, spread = parts
    square = _mean_square(e, spread)
    if square is None or square[0] != x or _centred(e, x) is not None:
        return None
    return Match((OWN, "NormaliseSize"), (x,), {"axes": list(square[1]), "epsilon": square[2]})


def _over_root(e: Expressions, root: NodePlan) -> tuple[str, str] | None:
    """(a, b) of a / sqrt(b) or a * (1 / sqrt(b))."""
    if root.op.name == "Div":
        under = e.made_by(root.inputs[1], "Sqrt")
        return None if under is None else (root.inputs[0], under.inputs[0])
    if root.op.name != "Mul":
        return None
    for a, other in (root.inputs, root.inputs[::-1]):
        turned = e.made_by(other, "Reciprocal", "Div", "Pow")
        if turned is None:
            continue
        if turned.op.name == "Pow":
            if near(e.scalar(turned.inputs[1]) or 0.0, -0.5):
                return a, turned.inputs[0]
            continue
        if turned.op.name == "Div" and not near(e.scalar(turned.inputs[0]) or 0.0, 1.0):
            continue
        under = e.made_by(turned.inputs[-1], "Sqrt")
        if under is not None:
            return a, under.inputs[0]
    return None


def _mean_square(e: Expressions, name: str) -> tuple[str, tuple[int, ...], float] | None:
    """(x, axes, epsilon) of mean(x * x) + epsilon."""
    terms = e.terms(name)
    mean = None if terms is None else e.made_by(terms[1], "ReduceMean")
    if terms is None or mean is None:
        return None
    square = e.made_by(mean.inputs[0], "Pow", "Mul")
    axes = _axes(e, mean)
    if square is None or axes is None:
        return None
    twice = square.inputs[0] == square.inputs[1] if square.op.name == "Mul" else e.scalar(square.inputs[1]) == 2.0
    return (square.inputs[0], axes, terms[0]) if twice else None


def _centred(e: Expressions, name: str) -> str | None:
    """x of x - mean(x)."""
    less = e.made_by(name, "Sub")
    mean = None if less is None else e.made_by(less.inputs[1], "ReduceMean")
    if less is None or mean is None or mean.inputs[0] != less.inputs[0]:
        return None
    return less.inputs[0]


def _axes(e: Expressions, node: NodePlan) -> tuple[int, ...] | None:
    """Axes of a reduction that keeps its dimensions."""
    listed = node.attributes.get("axes")
    if listed is None and len(node.inputs) > 1:
        axis = e.scalar(node.inputs[1])
        listed = None if axis is None else [int(axis)]
    if not listed or not node.attributes.get("keepdims", 1):
        return None
    return tuple(int(a) for a in listed)


def softmax(e: Expressions, root: NodePlan) -> Match | None:
    """exp(x) / sum(exp(x)), with the largest taken off before or not."""
    if root.op.name != "Div":
        return None
    total = e.made_by(root.inputs[1], "ReduceSum")
    powers = e.made_by(root.inputs[0], "Exp")
    axes = None if total is None else _axes(e, total)
    if total is None or powers is None or total.inputs[0] != root.inputs[0] or axes is None or len(axes) != 1:
        return None
    x = powers.inputs[0]
    less = e.producer.get(x)
    if less is not None and less.op.name == "Sub":
        most = e.producer.get(less.inputs[1])
        if most is not None and most.op.name == "ReduceMax" and most.inputs[0] == less.inputs[0]:
            e.seen |= {less.index: less, most.index: most}
            x = less.inputs[0]
    return Match(("", "Softmax"), (x,), {"axis": axes[0]})


PATTERNS: tuple[Pattern, ...] = (silu, gelu, layer_norm, folded_layer_norm, rms_norm, softmax)


def recognise(plan: ModelPlan) -> ModelPlan:
    """The plan with every pattern of its outermost graph replaced, and a note of what was found."""

    def scalar(name: str) -> float | None:
        constant: Any = plan.graph.constants.get(name)
        key = plan.graph.weights.get(name)
        if constant is None and key is not None and plan.weights[key].elements == 1:
            constant = plan.loaders[key]()
        if constant is None or constant.size != 1 or constant.dtype.kind not in "fiu":
            return None
        return float(np.asarray(constant).reshape(-1)[0])

    expressions = Expressions(plan.graph, scalar)
    replaced: dict[int, NodePlan] = {}
    gone: set[int] = set()
    found: dict[str, int] = {}
    for node in reversed(plan.graph.nodes):
        matched = None if node.index in gone else _matched(expressions, node, gone)
        if matched is not None:
            match, group = matched
            found[match.operator[1]] = found.get(match.operator[1], 0) + 1
            gone |= group - {node.index}
            replaced[node.index] = _operator(node, match)
    if not replaced:
        return plan
    nodes = tuple(replaced.get(n.index, n) for n in plan.graph.nodes if n.index not in gone)
    producers = {name: node for node in nodes for name in node.outputs if name}
    return replace(plan, graph=replace(plan.graph, nodes=nodes), producers=producers, notes=_notes(found))


def _matched(e: Expressions, node: NodePlan, gone: set[int]) -> tuple[Match, set[int]] | None:
    """The first pattern that fits, and the numbers of the nodes that it stands for."""
    for pattern in PATTERNS:
        e.seen = {node.index: node}
        match = pattern(e, node)
        group = None if match is None else e.between(node, match.inputs)
        if match is not None and group is not None and not group & gone:
            return match, group
    return None


def _operator(root: NodePlan, match: Match) -> NodePlan:
    operator = find(*match.operator)
    if operator is None:
        raise ValueError(f"no operator {match.operator}")
    return replace(root, op=operator, opset=match.opset, inputs=match.inputs, attributes=match.attributes)


WORDS = {"Swish": "SiLU", "Gelu": "GELU", "Normalise": "layer norm", "NormaliseSize": "RMS norm", "Softmax": "softmax"}


def _notes(found: Mapping[str, int]) -> tuple[tuple[str, str], ...]:
    listed = ", ".join(f"{count} {WORDS[name]}" for name, count in found.items())
    return (("model.recognised", f"Recognised in decomposed form and treated as a whole: {listed}."),)
