"""A training step small enough to check by hand: one dense layer, its gradient, its update."""

from typing import Any

import numpy as np

from simulator import RunConfig
from simulator.graph.graph import Graph, Kind, Operators, Pass, Role, Tensors, check
from simulator.laying import lay
from simulator.machines.constants import NOMINAL, Constants
from simulator.pipeline import parts_of
from simulator.program import Program, WeightSpec
from simulator.report.parts import Parts

BATCH, WIDTH, CLASSES = 32, 64, 48


def dense_step(batch: int = BATCH, *, training: bool = True) -> Graph:
    """x [batch, WIDTH] @ w [WIDTH, CLASSES], relu, then dw = x^T @ dy and w -= dw in place. All float32."""
    shapes = [(batch, WIDTH), (WIDTH, CLASSES), (batch, CLASSES), (batch, CLASSES), (WIDTH, CLASSES), (WIDTH, CLASSES)]
    roles = [Role.INPUT, Role.WEIGHT, Role.ACTIVATION, Role.OUTPUT, Role.GRADIENT, Role.WEIGHT]
    names = ["x", "w", "", "y", "dw", "w"]
    aliases = [-1, -1, -1, -1, -1, 1]
    rows: list[tuple[Kind, Pass, str, dict[str, Any], tuple[int, ...], tuple[int, ...]]] = [
        (Kind.MATMUL, Pass.FORWARD, "fc", {"batch": 1, "m": batch, "k": WIDTH, "n": CLASSES}, (0, 1), (2,)),
        (Kind.ELEMENTWISE, Pass.FORWARD, "relu", _each("max", batch * CLASSES, 1), (2,), (3,)),
        (Kind.MATMUL, Pass.BACKWARD, "fc", {"batch": 1, "m": WIDTH, "k": batch, "n": CLASSES}, (0, 3), (4,)),
        (Kind.ELEMENTWISE, Pass.UPDATE, "", _each("sub", WIDTH * CLASSES, 2), (1, 4), (5,)),
    ]
    kept = rows if training else rows[:2]
    tensors = len(shapes) if training else 4
    kinds, passes, sources, attributes, inputs, outputs = zip(*kept, strict=True)
    graph = Graph(
        ops=Operators(
            kind=np.array(kinds, dtype=np.int8),
            pass_=np.array(passes, dtype=np.int8),
            repeats=np.ones(len(kept), dtype=np.int64),
            source=sources,
            primitive=("dot_general", "max", "dot_general", "sub")[: len(kept)],
            attributes=attributes,
            inputs=inputs,
            outputs=outputs,
        ),
        tensors=Tensors(
            bytes=np.array([4 * a * b for a, b in shapes[:tensors]], dtype=np.int64),
            role=np.array(roles[:tensors], dtype=np.int8),
            alias_of=np.array(aliases[:tensors], dtype=np.int64),
            shape=tuple(shapes[:tensors]),
            dtype=("float32",) * tensors,
            name=tuple(names[:tensors]),
        ),
        name="dense",
        batch=batch,
        training=training,
        gradients=((1, 4),) if training else (),
    )
    check(graph)
    return graph


def _each(function: str, elements: int, arity: int) -> dict[str, Any]:
    return {"function": function, "functions": (function,), "depth": 1, "elements": elements, "arity": arity}


def dense_parts(priced: Constants = NOMINAL, **settings: Any) -> Parts:
    """Everything that a report of ``dense_step`` is made from, on a POD4 unless ``settings`` say otherwise."""
    config = RunConfig(**{"task": "train", "batch": BATCH, "system": "pod4", **settings})
    weights = {"w": WeightSpec((WIDTH, CLASSES), "float32")}
    notes = (("model.note", "A note of the front end."),)
    program = Program("dense", (), (), weights, (), _nothing, dict, batch=BATCH, notes=notes)
    laid = lay(dense_step(config.batch, training=config.training), config)
    return parts_of(program, laid, config, priced=priced)


def _nothing(*arguments: Any) -> Any:
    raise NotImplementedError("the graph is made by hand")
