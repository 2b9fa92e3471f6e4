"""Program to Graph: one inference batch, or loss + backward + optimiser, of one replica, traced on abstract values.

No weight is loaded. What each primitive costs as is in ``classify``; fusion of element-wise chains is in ``fuse``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from simulator.collecting import uncollected
from simulator.config import RunConfig
from simulator.frameworks.catalogue import framework
from simulator.graph.fuse import fuse
from simulator.graph.graph import Graph, Role, check
from simulator.graph.walk import Walk
from simulator.learning import step
from simulator.program import Program

Leaf = tuple[str, Role]  # name, role


def trace(program: Program, config: RunConfig, on_progress: Callable[[float], None] | None = None) -> Graph:
    """The Graph of one step of one replica. Raises SimulatorError when the model cannot be trained."""
    report = on_progress or (lambda fraction: None)
    with uncollected():
        function, arguments, roles, results = (_training if config.training else _inference)(program, config)
        jaxpr, used = _jaxpr(function, arguments)
        report(0.5)
        walk = Walk(program.sources, tuple(sorted(arguments[0])) if config.training else ())
        leaves = [leaf for leaf, keep in zip(roles, used, strict=True) if keep]
        graph = _walked(walk, jaxpr, leaves, results, program, config)
    report(0.9)
    check(graph)
    return graph


def _jaxpr(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, list[bool]]:
    """The closed jaxpr without dead code, and which flattened arguments it still reads."""
    from jax.interpreters import partial_eval

    closed = jax.make_jaxpr(function)(*arguments)
    pruned, used = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    return pruned, list(used)


def _inference(program: Program, config: RunConfig) -> tuple[Any, tuple[Any, ...], list[Leaf], list[Leaf]]:
    abstract = step.abstract(program, config)
    roles = _leaves(abstract.kept, Role.WEIGHT) + _leaves(abstract.inputs, Role.INPUT)
    results = [(name, Role.OUTPUT) for name in sorted(spec.name for spec in program.outputs)]
    return step.infer(program), (abstract.kept, abstract.inputs), roles, results


def _training(program: Program, config: RunConfig) -> tuple[Any, tuple[Any, ...], list[Leaf], list[Leaf]]:
    abstract = step.abstract(program, config)
    slopes_of, update = step.gradients(program, config), step.update(config)

    def whole(trained: Any, kept: Any, state: Any, inputs: Any, labels: Any, count: Any, key: Any) -> Any:
        loss, slopes, updates = slopes_of(trained, kept, inputs, labels, key)
        trained, state = update(trained, state, slopes, count, key)
        return trained, state, {n: v for n, v in updates.items() if n in kept}, loss, slopes

    key = jax.eval_shape(lambda: jax.random.key(0))
    count = jax.ShapeDtypeStruct((), "float32")
    arguments = (abstract.trained, abstract.kept, abstract.state, abstract.inputs, abstract.labels, count, key)
    state = [
        (f"{n}.{slot}", Role.OPTIMISER_STATE) for n in sorted(abstract.state) for slot in sorted(abstract.state[n])
    ]
    count_of_labels = len(jax.tree.leaves(abstract.labels))
    labels = [("labels" if count_of_labels == 1 else f"labels.{i}", Role.LABEL) for i in range(count_of_labels)]
    roles = (
        _leaves(abstract.trained, Role.WEIGHT) + _leaves(abstract.kept, Role.WEIGHT) + state
        + _leaves(abstract.inputs, Role.INPUT) + labels + [("step", Role.INPUT), ("key", Role.INPUT)]
    )  # fmt: skip
    changed = jax.eval_shape(whole, *arguments)[2]
    results = (
        _leaves(abstract.trained, Role.WEIGHT) + state + _leaves(changed, Role.WEIGHT) + [("loss", Role.OUTPUT)]
        + _leaves(abstract.trained, Role.GRADIENT)
    )  # fmt: skip
    return whole, arguments, roles, results


def _leaves(tree: dict[str, Any], role: Role) -> list[Leaf]:
    return [(name, role) for name in sorted(tree)]


def _walked(
    walk: Walk, jaxpr: Any, leaves: list[Leaf], results: list[Leaf], program: Program, config: RunConfig
) -> Graph:
    given = {}
    for var, (name, role) in zip(jaxpr.invars, leaves, strict=True):
        given[(name, role)] = walk.given(var, role, name)
    for var in jaxpr.constvars:
        walk.given(var, Role.CONSTANT, "")
    for var, leaf in zip(jaxpr.outvars, results, strict=True):
        name, role = leaf
        in_place = given.get(leaf, -1) if role in (Role.WEIGHT, Role.OPTIMISER_STATE) else -1
        walk.want(var, role, name, in_place)
    walk.equations(jaxpr)
    weights, gradients = [], []
    for var, (name, role) in zip(jaxpr.outvars, results, strict=True):
        if role == Role.GRADIENT and (name, Role.WEIGHT) in given:
            weights.append(given[(name, Role.WEIGHT)])
            gradients.append(walk.read(var))
    walk.finish([walk.read(v) for v in jaxpr.outvars])
    level = framework(config.framework).fusion
    fuse(walk.builder, keep={walk.builder.root(walk.read(v)) for v in jaxpr.outvars}, level=level)
    pairs = tuple(zip(weights, gradients, strict=True))
    return walk.builder.freeze(name=program.name, batch=program.batch, training=config.training, gradients=pairs)
