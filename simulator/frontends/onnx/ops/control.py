"""If, Loop and Scan. What is known while tracing decides there; a Loop must say how often it runs, and is not unrolled.

A loop whose trips depend on computed values can be given a largest number of trips by name (``dims``); it then runs
that often, and nothing changes any more once its condition is false.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.onnx.call import Call, decided, is_known
from simulator.frontends.onnx.plan import GraphPlan, trips_name
from simulator.frontends.onnx.registry import op

MOST_TRIPS = 1 << 20
MOST_TRIPS_NOW = 1 << 12  # of a loop that is run trip by trip
MISFIT = "model.shape_mismatch"
ENDLESS = np.iinfo(np.int64).max  # how exporters write "until the condition fails"


@op("If", static=(0,))
def if_(call: Call, condition: Any) -> Any:
    known = decided(condition)
    if known is not None:
        return tuple(call.branch("then_branch" if known.reshape(-1)[0] else "else_branch"))

    def side(name: str) -> Any:
        return lambda: tuple(jnp.asarray(v) for v in call.branch(name))

    try:
        return jax.lax.cond(jnp.asarray(condition).reshape(()), side("then_branch"), side("else_branch"))
    except TypeError as error:  # the branches differ in shape or type
        raise call.data_dependent("condition") from error
    except SimulatorError as error:
        possible = [name for name in ("then_branch", "else_branch") if _fits(side(name))]
        if error.code != MISFIT or len(possible) != 1:
            raise
        call.note("model.branch_left_out", "has a branch that cannot run on these shapes, so the other is always taken")
        return side(possible[0])()


def _fits(branch: Callable[[], Any]) -> bool:
    try:
        jax.eval_shape(branch)
    except SimulatorError as error:
        return error.code != MISFIT
    return True


@op("Loop", static=(0,))
def loop(call: Call, trips: Any = None, condition: Any = None, *carried: Any) -> Any:
    """Final values of what is carried, then what each trip adds to its stacks."""
    trips = None if trips is None or np.size(trips) == 0 else trips
    condition = None if condition is None or np.size(condition) == 0 else condition
    if call.context.exact and _all_decided((trips, condition, *carried)):
        return _run_now(call, decided(trips), decided(condition), carried)
    if any(v is None or isinstance(v, list) for v in carried):
        raise call.data_dependent("sequences")
    return _counted(call, _trips(call, trips), condition, tuple(jnp.asarray(v) for v in carried))


def _all_decided(values: Sequence[Any]) -> bool:
    flat = [part for v in values for part in (v if isinstance(v, list) else [v])]
    return all(v is None or decided(v) is not None for v in flat)


def _counted(call: Call, count: int, condition: Any, start: tuple[Any, ...]) -> tuple[Any, ...]:
    """A loop of ``count`` trips of one shape. What it collects has a shape only if no condition can end it early."""
    live = jnp.asarray(True if condition is None else condition).reshape(())
    ends_early = not _runs_to_the_end(call.required("body"), condition)

    def trip(state: tuple[Any, Any], index: Any) -> Any:
        alive, values = state
        again, *rest = call.branch("body", index, jnp.asarray(True), *values)
        new = tuple(jnp.asarray(v, o.dtype) for v, o in zip(rest, values, strict=False))
        kept = tuple(jnp.where(alive, n, o) for n, o in zip(new, values, strict=True)) if ends_early else new
        return (alive & jnp.asarray(again).reshape(()), kept), tuple(jnp.asarray(v) for v in rest[len(values) :])

    index = jnp.arange(count, dtype=jnp.int64 if call.context.exact else jnp.int32)
    (_, final), collected = jax.lax.scan(trip, (live, start), index)
    if collected and ends_early:
        raise call.data_dependent("number of trips")
    return (*final, *collected)


def _run_now(call: Call, trips: Any, condition: Any, carried: Sequence[Any]) -> tuple[Any, ...]:
    """Trip by trip, on values that can be looked at: shapes may change on the way."""
    limit = ENDLESS if trips is None else int(trips.reshape(-1)[0])
    alive = condition is None or bool(condition.reshape(-1)[0])
    values, stacks, done = list(carried), [], 0
    while alive and done < limit:
        if done >= MOST_TRIPS_NOW:
            raise call.invalid(f"runs more than {MOST_TRIPS_NOW} times")
        again, *rest = call.branch("body", np.asarray(done, np.int64), np.asarray(True), *values)
        values, alive, done = rest[: len(carried)], bool(decided(again)), done + 1
        stacks.append(rest[len(carried) :])
    return (*values, *(jnp.stack([jnp.asarray(v) for v in column]) for column in zip(*stacks, strict=True)))


def _trips(call: Call, trips: Any) -> int:
    name = trips_name(call.node.label)
    known = None if trips is None else decided(trips)
    count = ENDLESS if known is None else int(known.reshape(-1)[0])
    if count >= ENDLESS or name in call.context.trips:
        if name not in call.context.trips:
            raise call.data_dependent("number of trips") if call.context.exact else call.needs_trips(name)
        count = min(count, call.context.trips[name])
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


@op("Scan")
def scan(call: Call, *values: Any) -> Any:
    """States and one slice of each scanned input at a time, each along an axis and in a direction of its own."""
    if call.opset < 9:
        return _scan_of_batches(call, *values)
    count = call.required("num_scan_inputs")
    states, scanned = values[: len(values) - count], values[len(values) - count :]
    axes, turned = call.attr("scan_input_axes") or [0] * count, call.attr("scan_input_directions") or [0] * count
    moved = [jnp.moveaxis(jnp.asarray(v), a, 0) for v, a in zip(scanned, axes, strict=True)]
    final, stacks = _scanned(call, states, [jnp.flip(v, 0) if t else v for v, t in zip(moved, turned, strict=True)])
    axes = call.attr("scan_output_axes") or [0] * len(stacks)
    turned = call.attr("scan_output_directions") or [0] * len(stacks)
    whole = [jnp.flip(v, 0) if t else v for v, t in zip(stacks, turned, strict=True)]
    return (*final, *(jnp.moveaxis(v, 0, a) for v, a in zip(whole, axes, strict=True)))


def _scanned(call: Call, states: Sequence[Any], slices: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    def one(carry: Any, step: Any) -> Any:
        results = [jnp.asarray(v) for v in call.branch("body", *carry, *step)]
        return tuple(results[: len(carry)]), tuple(results[len(carry) :])

    final, stacks = jax.lax.scan(one, tuple(jnp.asarray(v) for v in states), tuple(slices))
    return final, stacks


def _scan_of_batches(call: Call, lengths: Any, *values: Any) -> Any:
    """As in opset 8: a batch in front of everything, time next."""
    if lengths is not None:
        raise call.invalid("gives each sample a length of its own, which is not supported")
    count = call.required("num_scan_inputs")
    turned = call.attr("directions") or [0] * count

    def sample(*parts: Any) -> Any:
        slices = [jnp.flip(v, 0) if t else v for v, t in zip(parts[len(parts) - count :], turned, strict=True)]
        return _scanned(call, parts[: len(parts) - count], slices)

    final, stacks = jax.vmap(sample)(*(jnp.asarray(v) for v in values))
    return (*final, *stacks)
