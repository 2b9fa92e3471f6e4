"""A checked ONNX graph made ready to run: nodes with functions and decoded attributes, constants apart from weights.

No JAX. Weights are only described; a loader reads them when numbers are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.frontends.onnx.registry import Operator
from simulator.program import WeightSpec


@dataclass(frozen=True)
class NodePlan:
    """``index`` numbers nodes over all graphs of the model; ``label`` is unique among them. "" is an omitted input."""

    index: int
    label: str
    op: Operator
    opset: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]  # a graph is a GraphPlan, a tensor a numpy array, a string bytes


@dataclass(frozen=True)
class GraphPlan:
    """``weights`` maps a name in this graph to its key among the model's weights."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[NodePlan, ...]
    constants: Mapping[str, np.ndarray]
    weights: Mapping[str, str]


@dataclass(frozen=True)
class ModelPlan:
    graph: GraphPlan
    weights: Mapping[str, WeightSpec]
    loaders: Mapping[str, Callable[[], np.ndarray]]
    labels: tuple[str, ...]
    producers: Mapping[str, NodePlan] = field(default_factory=dict)  # of the outermost graph
    notes: tuple[tuple[str, str], ...] = ()  # (code, message) for the report
    loops: tuple[str, ...] = ()  # labels of Loop nodes, whose trips a user may bound


def trips_name(label: str) -> str:
    """Under which name the largest number of trips of a loop can be given."""
    return f"{label}.trips"
