"""The table from ONNX operator to a small function over arrays. The functions themselves are in ``ops``, by family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

FAMILIES = (
    "activations", "arithmetic", "attention", "casting", "classical", "control", "convolution", "detection", "fused",
    "generators", "geometry", "indexing", "losses", "matmul", "movement", "norms", "older_trees", "pooling",
    "quantisation", "recurrent", "reductions", "resizing", "sequences", "shapes", "signal", "stencils", "streaming",
    "strings", "training", "transformers", "trees",
)  # fmt: skip

Function = Callable[..., Any]  # (call, *inputs) -> one array or a tuple of arrays


@dataclass(frozen=True)
class Operator:
    """``static`` are positions of inputs that decide shapes and so must be known while tracing."""

    name: str
    domain: str
    function: Function
    static: frozenset[int] = field(default_factory=frozenset)
    untrained: frozenset[int] = field(default_factory=frozenset)


_TABLE: dict[tuple[str, str], Operator] = {}


def op(
    *names: str, domain: str = "", static: tuple[int, ...] = (), untrained: tuple[int, ...] = ()
) -> Callable[[Function], Function]:
    """Register a function under operator names. ``untrained`` inputs are weights without a gradient."""

    def register(function: Function) -> Function:
        for name in names:
            if (domain, name) in _TABLE:
                raise ValueError(f"operator {domain}::{name} is registered twice")
            _TABLE[(domain, name)] = Operator(name, domain, function, frozenset(static), frozenset(untrained))
        return function

    return register


def find(domain: str, name: str) -> Operator | None:
    """The operator, or None when it is not supported."""
    return table().get(("" if domain == "ai.onnx" else domain, name))


def table() -> dict[tuple[str, str], Operator]:
    """Every supported operator by (domain, name); loads the families at first use."""
    _load()
    return _TABLE


@cache
def _load() -> None:
    for family in FAMILIES:
        import_module(f"simulator.frontends.onnx.ops.{family}")
