"""Names of the jitted forward and backward functions of composites, and how the Graph describes each.

A composite is a ``custom_vjp`` function whose two halves are jitted under a registered name; the trace meets that name
and keeps the call whole. No numbers here.
"""

from __future__ import annotations

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


def whole(kind: str, describe: Callable[[Shapes], dict[str, Any]]) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function so that the trace keeps it whole under its own ``__name__``."""

    def register(function: Callable[..., Any]) -> Any:
        name = getattr(function, "__name__", "")
        if name in COMPOSITES:
            raise ValueError(f"two composites are called {name}")
        COMPOSITES[name] = Composite(kind, describe)
        return jax.jit(function)

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
