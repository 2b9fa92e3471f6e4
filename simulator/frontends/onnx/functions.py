"""Local functions of a model: counted before they are inlined, since a few kilobytes can unfold into 2^40 nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx.inliner

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits
from simulator.frontends.onnx.check import subgraphs

Key = tuple[str, str]


def inline_functions(model: Any, limits: Limits) -> Any:
    """The model with every local function unfolded, or ``model.recursive_function`` / ``model.too_large``."""
    if not model.functions:
        return model
    if len(model.functions) > limits.nodes:
        raise _too_many(limits)
    bodies: dict[Key, Any] = {(f.domain, f.name): f for f in model.functions}
    total = _count(model.graph.node, _sizes(bodies, limits))
    if total > limits.nodes:
        raise _too_many(limits)
    return onnx.inliner.inline_local_functions(model)


def _too_many(limits: Limits) -> SimulatorError:
    return SimulatorError(
        "model.too_large",
        f"With its functions unfolded the model has more than {limits.nodes} nodes, which is the limit. Simplify it.",
        params={"what": "nodes", "limit": limits.nodes},
    )


def _sizes(bodies: Mapping[Key, Any], limits: Limits) -> dict[Key, int]:
    """Nodes in each function once unfolded, innermost first; a round without progress means recursion."""
    waiting = {key: _called(body.node, bodies) for key, body in bodies.items()}
    sizes: dict[Key, int] = {}
    for _ in range(limits.depth):
        ready = [key for key, needs in waiting.items() if needs <= sizes.keys()]
        for key in ready:
            sizes[key] = _count(bodies[key].node, sizes)
            del waiting[key]
        if not waiting:
            return sizes
        if not ready:
            names = ", ".join(sorted(name[:60] for _, name in waiting)[:5])
            raise SimulatorError(
                "model.recursive_function",
                f"Functions call each other without end: {names}. Export the model without recursive functions.",
                params={"functions": names},
            )
    raise SimulatorError(
        "model.too_large",
        f"Functions are nested more than {limits.depth} deep, which is the limit (inlined node count over limit).",
        params={"what": "depth", "limit": limits.depth},
    )


def _called(nodes: Any, bodies: Mapping[Key, Any]) -> set[Key]:
    found: set[Key] = set()
    for node in nodes:
        if (node.domain, node.op_type) in bodies:
            found.add((node.domain, node.op_type))
        for graph in subgraphs(node):
            found |= _called(graph.node, bodies)
    return found


def _count(nodes: Any, sizes: Mapping[Key, int]) -> int:
    total = 0
    for node in nodes:
        total += sizes.get((node.domain, node.op_type), 1)
        total += sum(_count(graph.node, sizes) for graph in subgraphs(node))
    return total
