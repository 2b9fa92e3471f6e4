"""One training step and one inference batch of a single replica, as traceable functions over plain dictionaries.

fp16 follows the IPU's recipe: weights and activations in float16, optimiser state in float32, the loss scaled before
the backward pass, and updates rounded stochastically. Summing gradients over replicas belongs to whoever calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.losses import cross_entropy, mean_squared_error
from simulator.composites.stochastic_rounding import round_stochastically
from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.learning.optimisers import optimiser_of
from simulator.program import Mode, Objective, Program, WeightSpec, scope_name

UPDATE_SCOPE = "update"
LOSS_SCOPE = "loss"
LOSS_SCALE = 1024.0  # of fp16 training

Tree = dict[str, Any]
FLOATS = frozenset({"float16", "float32", "float64", "bfloat16"})


@dataclass(frozen=True)
class Abstract:
    """Shape and dtype of every argument of a step, by name, as ``jax.ShapeDtypeStruct``."""

    trained: Tree
    kept: Tree
    state: dict[str, Tree]
    inputs: Tree
    labels: Any


def device_dtype(dtype: str, precision: str) -> str:
    """The dtype in which a tensor lives on the device: floats by precision, integers in 32 bits at most."""
    if dtype in FLOATS:
        return "float16" if precision == "fp16" else "float32"
    return {"int64": "int32", "uint64": "uint32"}.get(dtype, dtype)


def objective_of(program: Program) -> Objective:
    """The objective, or ``model.not_trainable``."""
    if program.objective is None or not any(spec.trainable for spec in program.weights.values()):
        raise SimulatorError(
            "model.not_trainable",
            "This model cannot be trained here: it needs float weights and one float output of the batch. "
            "Run it as inference, or export it without its post-processing.",
        )
    return program.objective


def abstract(program: Program, config: RunConfig) -> Abstract:
    """Describe the arguments of a step without loading a weight."""

    def struct(spec: Any) -> Any:
        return jax.ShapeDtypeStruct(spec.shape, device_dtype(spec.dtype, config.precision))

    training = config.training
    trained = {n: struct(s) for n, s in program.weights.items() if training and s.trainable}
    kept = {n: struct(s) for n, s in program.weights.items() if n not in trained}
    slots = optimiser_of(config).slots if training else ()
    state = {n: {s: jax.ShapeDtypeStruct(w.shape, "float32") for s in slots} for n, w in trained.items()}
    return Abstract(trained, kept, state, {s.name: struct(s) for s in program.inputs}, _labels(program, config))


def _labels(program: Program, config: RunConfig) -> Any:
    if not config.training:
        return None
    objective = objective_of(program)
    if objective.kind == "cross_entropy":
        return jax.ShapeDtypeStruct(objective.shape[:-1], "int32")
    return jax.ShapeDtypeStruct(objective.shape, device_dtype("float32", config.precision))


def infer(program: Program) -> Callable[[Tree, Tree], Tree]:
    """``f(weights, inputs) -> outputs``."""
    return program.call


def losses(program: Program, config: RunConfig) -> Callable[..., tuple[Any, tuple[Any, Tree]]]:
    """``f(trained, kept, inputs, labels, key) -> (scaled loss, (loss, updates of kept weights))``."""
    objective = objective_of(program)
    scale = loss_scale(config)

    def run(trained: Tree, kept: Tree, inputs: Tree, labels: Any, key: Any) -> tuple[Any, tuple[Any, Tree]]:
        tensors, updates = program.function({**kept, **trained}, inputs, Mode(training=True, key=key))
        with jax.named_scope(LOSS_SCOPE):
            loss = _loss(objective, tensors[objective.tensor], labels)
            return loss * scale if scale != 1.0 else loss, (loss, updates)

    return run


def gradients(program: Program, config: RunConfig) -> Callable[..., tuple[Any, Tree, Tree]]:
    """``f(trained, kept, inputs, labels, key) -> (loss, scaled gradients, updates of kept weights)``."""
    slopes_of = jax.value_and_grad(losses(program, config), has_aux=True)

    def run(trained: Tree, kept: Tree, inputs: Tree, labels: Any, key: Any) -> tuple[Any, Tree, Tree]:
        (_, (loss, updates)), slopes = slopes_of(trained, kept, inputs, labels, key)
        return loss, slopes, updates

    return run


def loss_scale(config: RunConfig) -> float:
    return LOSS_SCALE if config.precision == "fp16" else 1.0


def _loss(objective: Objective, scores: Any, labels: Any) -> Any:
    if objective.kind == "cross_entropy":
        return cross_entropy(scores.reshape(-1, objective.classes), labels.reshape(-1))
    if objective.kind == "mean":
        return jnp.mean(scores.astype(jnp.float32))
    return mean_squared_error(scores, labels)


def update(config: RunConfig) -> Callable[..., tuple[Tree, dict[str, Tree]]]:
    """``f(trained, state, gradients, step from 1, key) -> (trained, state)``; gradients already summed and averaged."""
    optimiser = optimiser_of(config)
    scale = loss_scale(config)

    @jax.jit  # traced once for every shape, not for every weight
    def one(weight: Any, slope: Any, state: Mapping[str, Any], shared: Any, key: Any) -> tuple[Any, Tree]:
        slope = slope.astype(jnp.float32)
        slope = slope / scale if scale != 1.0 else slope
        wide, state = optimiser.rule(
            weight.astype(jnp.float32), slope, state, shared, config.learning_rate, config.momentum
        )
        return (round_stochastically(wide, key) if weight.dtype == jnp.float16 else wide), dict(state)

    def run(trained: Tree, state: dict[str, Tree], slopes: Tree, step: Any, key: Any) -> tuple[Tree, dict[str, Tree]]:
        done: dict[str, tuple[Any, Tree]] = {}
        with jax.named_scope(UPDATE_SCOPE):
            shared = optimiser.shared(step)
            for index, name in enumerate(sorted(trained)):
                with jax.named_scope(scope_name(index)):
                    done[name] = one(trained[name], slopes[name], state[name], shared, _key(key, index, config))
        return {n: w for n, (w, _) in done.items()}, {n: s for n, (_, s) in done.items()}

    return run


def _key(key: Any, index: int, config: RunConfig) -> Any:
    return jax.random.fold_in(key, index) if config.precision == "fp16" else key


def initial_state(trained: Mapping[str, WeightSpec | Any], config: RunConfig) -> dict[str, Tree]:
    """Zeroed optimiser state for each trained weight."""
    slots = optimiser_of(config).slots
    return {name: {slot: jnp.zeros(w.shape, jnp.float32) for slot in slots} for name, w in trained.items()}
