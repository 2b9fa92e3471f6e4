"""If and Loop. What is known while tracing decides there; a Loop must say how often it runs, and is never unrolled."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.frontends.onnx.call import Call, is_known
from simulator.frontends.onnx.plan import GraphPlan
from simulator.frontends.onnx.registry import op

MOST_TRIPS = 1 << 20


@op("If", static=(0,))
def if_(call: Call, condition: Any) -> Any:
    if is_known(condition):
        taken = bool(call.known(condition, "condition").reshape(-1)[0])
        return tuple(call.branch("then_branch" if taken else "else_branch"))

    def side(name: str) -> Any:
        return lambda: tuple(jnp.asarray(v) for v in call.branch(name))

    return jax.lax.cond(jnp.asarray(condition).reshape(()), side("then_branch"), side("else_branch"))


@op("Loop", static=(0,))
def loop(call: Call, trips: Any, condition: Any = None, *carried: Any) -> Any:
    """A loop of a known number of trips, each trip of one shape. Once its condition is false nothing changes any more.

    Outputs that it would collect trip by trip are only supported when no condition can end it early.
    """
    count = _trips(call, trips)
    start = tuple(jnp.asarray(v) for v in carried)
    live = jnp.asarray(True if condition is None else condition).reshape(())
    ends_early = not _runs_to_the_end(call.required("body"), condition)

    def trip(state: tuple[Any, Any], index: Any) -> Any:
        alive, values = state
        again, *rest = call.branch("body", index, jnp.asarray(True), *values)
        new = tuple(jnp.asarray(v, o.dtype) for v, o in zip(rest, values, strict=False))
        kept = tuple(jnp.where(alive, n, o) for n, o in zip(new, values, strict=True)) if ends_early else new
        return (alive & jnp.asarray(again).reshape(()), kept), tuple(rest[len(values) :])

    (_, final), collected = jax.lax.scan(trip, (live, start), jnp.arange(count, dtype=jnp.int32))
    if collected and ends_early:
        raise call.invalid("collects outputs of a loop that may end early, which has no fixed shape")
    return (*final, *collected)


def _trips(call: Call, trips: Any) -> int:
    if trips is None or (is_known(trips) and np.size(trips) == 0):
        raise call.invalid("does not say how often it runs: give it a largest number of trips")
    count = call.integers(trips, "number of trips")[0]
    if not 0 <= count <= MOST_TRIPS:
        raise call.invalid(f"may run {count} times; the limit is {MOST_TRIPS}")
    return count


def _runs_to_the_end(body: GraphPlan, condition: Any) -> bool:
    """True when the body passes its condition on, or sets it to a constant that is true."""
    if condition is not None and not (is_known(condition) and bool(np.all(condition))):
        return False
    passed = {node.outputs[0]: node.inputs[0] for node in body.nodes if node.op.name == "Identity"}
    name = body.outputs[0]
    while name in passed:
        name = passed[name]
    return name == body.inputs[1] or (name in body.constants and bool(np.all(body.constants[name])))
