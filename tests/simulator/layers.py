"""A model of equal layers with named nodes, small enough to trace in a moment, for tests of stages and rewrites."""

from functools import lru_cache
from typing import Any

import numpy as np

from simulator import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Graph
from simulator.laying import Laid, lay
from simulator.pipeline import graph_of, parts_of
from simulator.program import Program
from simulator.report.parts import Parts
from tests.simulator.onnx_models import model, node, value

WIDTH = 64
LAYERS = 4


@lru_cache(maxsize=4)
def layered(*, tied: bool = False, batch: int = 32) -> Program:
    """x -> LAYERS x (product, Gelu) -> scores; ``tied``: the last product uses the weight of the first again."""
    nodes, weights = [], {}
    at = "x"
    for layer in range(LAYERS):
        name = f"w{0 if tied and layer == LAYERS - 1 else layer}"
        weights[name] = np.ones((WIDTH, WIDTH), dtype=np.float32)
        nodes.append(node("MatMul", [at, name], [f"h{layer}"], name=f"layer{layer}.product"))
        nodes.append(node("Gelu", [f"h{layer}"], [f"y{layer}"], name=f"layer{layer}.gelu"))
        at = f"y{layer}"
    nodes.append(node("Identity", [at], ["scores"], name="head"))
    data = model(nodes, [value("x", ["N", WIDTH])], [value("scores", ["N", WIDTH])], weights=weights, opset=20)
    return load(data, name="layers", batch=batch)


def config_of(**settings: Any) -> RunConfig:
    given = {"system": "pod4", "precision": "fp16", "partials": "fp16", "batch": 32, **settings}
    return RunConfig.from_dict(given)


@lru_cache(maxsize=8)
def graph(*, tied: bool = False, optimiser: str = "adam", task: str = "train") -> Graph:
    return graph_of(layered(tied=tied), config_of(optimiser=optimiser, task=task))


def laid(*, tied: bool = False, **settings: Any) -> Laid:
    config = config_of(**{"optimiser": "adam", **settings})
    return lay(graph(tied=tied, optimiser=config.optimiser, task=config.task), config)


def parts(*, tied: bool = False, **settings: Any) -> Parts:
    config = config_of(**{"optimiser": "adam", **settings})
    return parts_of(layered(tied=tied), laid(tied=tied, **settings), config)
