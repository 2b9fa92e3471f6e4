"""Names of the jitted forward and backward functions of composites, and how the Graph describes each.

A composite is a ``custom_vjp`` function whose two halves are jitted under a registered name; the trace meets that name
and keeps the call whole. No numbers here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

Shapes = list[tuple[int, ...]]


@dataclass(frozen=True)
class Composite:
    """``kind`` names a Graph kind; ``describe(input shapes)`` gives its attributes."""

    kind: str
    describe: Callable[[Shapes], dict[str, Any]]


COMPOSITES: dict[str, Composite] = {}


def whole(
    kind: str, describe: Callable[[Shapes], dict[str, Any]], name: str = ""
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function so that the trace keeps it whole under ``name`` (its own ``__name__`` when not given)."""

    def register(function: Callable[..., Any]) -> Any:
        known = name or getattr(function, "__name__", "")
        if known in COMPOSITES:
            raise ValueError(f"two composites are called {known}")
        COMPOSITES[known] = Composite(kind, describe)

        def called(*arguments: Any) -> Any:
            return function(*arguments)

        called.__name__ = known  # the trace meets this name
        return jax.jit(called)

    return register


def rows_and_columns(name: str) -> Callable[[Shapes], dict[str, Any]]:
    """Describe a composite that works on the rows of its first input."""

    def describe(shapes: Shapes) -> dict[str, Any]:
        *leading, columns = shapes[0]
        rows = 1
        for size in leading:
            rows *= size
        return {"name": name, "rows": rows, "columns": columns}

    return describe


def elementwise(function: str, arity: int = 1) -> Callable[[Shapes], dict[str, Any]]:
    """Describe a composite that is one codelet over the elements of its first input; ``arity`` tensors are read."""

    def describe(shapes: Shapes) -> dict[str, Any]:
        elements = max(1, math.prod(shapes[0]))
        return {"function": function, "functions": (function,), "depth": 1, "elements": elements, "arity": arity}

    return describe
