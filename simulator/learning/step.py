"""One training step and one inference batch of a single replica, as traceable functions over plain dictionaries.

fp16 follows the IPU's recipe: weights and activations in float16, optimiser state in float32, the loss scaled before
the backward pass, and updates rounded stochastically. fp8 is fp16 whose products read 8-bit floats. Summing gradients
over replicas belongs to whoever calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.ctc import ctc_loss
from simulator.composites.float8 import FLOAT8
from simulator.composites.losses import cross_entropy, mean_squared_error
from simulator.composites.stochastic_rounding import round_stochastically
from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.learning.optimisers import optimiser_of
from simulator.program import Mode, Objective, Program, WeightSpec, scope_name

UPDATE_SCOPE = "update"
LOSS_SCOPE = "loss"
LOSS_SCALE = 1024.0  # with which fp16 training begins, unless one is given

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
        return "float32" if precision == "fp32" else "float16"
    return {"int64": "int32", "uint64": "uint32"}.get(dtype, dtype)


def weight_dtype(spec: WeightSpec, precision: str) -> str:
    """As ``device_dtype``, for a weight: 8 bits where only products read it."""
    return FLOAT8 if precision == "fp8" and spec.product else device_dtype(spec.dtype, precision)


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

    def stored(spec: WeightSpec) -> Any:
        return jax.ShapeDtypeStruct(spec.shape, weight_dtype(spec, config.precision))

    training = config.training
    trained = {n: struct(s) for n, s in program.weights.items() if training and s.trainable}
    kept = {n: stored(s) for n, s in program.weights.items() if n not in trained}
    slots = optimiser_of(config).slots if training else ()
    state = {n: {s: jax.ShapeDtypeStruct(w.shape, "float32") for s in slots} for n, w in trained.items()}
    return Abstract(trained, kept, state, {s.name: struct(s) for s in program.inputs}, _labels(program, config))


def _labels(program: Program, config: RunConfig) -> Any:
    if not config.training:
        return None
    parts = objective_of(program).parts
    labels = tuple(_labels_of(part, config) for part in parts)
    return labels if len(parts) > 1 else labels[0]


def _labels_of(objective: Objective, config: RunConfig) -> Any:
    if objective.kind == "cross_entropy":
        return jax.ShapeDtypeStruct(objective.shape[:-1], "int32")
    if objective.kind == "ctc":
        return jax.ShapeDtypeStruct((objective.shape[0], objective.tokens), "int32")
    return jax.ShapeDtypeStruct(objective.shape, device_dtype("float32", config.precision))


def infer(program: Program) -> Callable[[Tree, Tree], Tree]:
    """``f(weights, inputs) -> outputs``."""
    return program.call


def losses(
    program: Program, config: RunConfig, *, on_host: bool = False
) -> Callable[..., tuple[Any, tuple[Any, Tree]]]:
    """``f(trained, kept, inputs, labels, key[, scale]) -> (scaled loss, (loss, updates of kept weights))``.

    ``scale`` replaces the configured scale of the loss.
    """
    objective = objective_of(program)
    fixed = loss_scale(config)

    def run(
        trained: Tree, kept: Tree, inputs: Tree, labels: Any, key: Any, scale: Any = fixed
    ) -> tuple[Any, tuple[Any, Tree]]:
        tensors, updates = program.function({**kept, **trained}, inputs, Mode(training=True, key=key, on_host=on_host))
        with jax.named_scope(LOSS_SCOPE):
            loss = _sum_of_losses(objective, tensors, labels)
            return _scaled(loss, scale), (loss, updates)

    return run


def gradients(program: Program, config: RunConfig) -> Callable[..., tuple[Any, Tree, Tree]]:
    """``f(trained, kept, inputs, labels, key) -> (loss, scaled gradients, updates of kept weights)``."""
    slopes_of = jax.value_and_grad(losses(program, config), has_aux=True)

    def run(trained: Tree, kept: Tree, inputs: Tree, labels: Any, key: Any) -> tuple[Any, Tree, Tree]:
        (_, (loss, updates)), slopes = slopes_of(trained, kept, inputs, labels, key)
        return loss, slopes, updates

    return run


def loss_scale(config: RunConfig) -> float:
    """What the loss is multiplied by before the backward pass: as given, else 1,024 in fp16 and nothing in fp32."""
    return config.loss_scale or (LOSS_SCALE if config.precision == "fp16" else 1.0)


def _scaled(value: Any, scale: Any) -> Any:
    return value if isinstance(scale, float) and scale == 1.0 else value * scale


def _sum_of_losses(objective: Objective, tensors: Tree, labels: Any) -> Any:
    """All parts of the objective, each with its share."""
    parts = objective.parts
    given = labels if len(parts) > 1 else (labels,)
    found = [_scaled(_loss(p, tensors[p.tensor], each), p.share) for p, each in zip(parts, given, strict=True)]
    return sum(found[1:], start=found[0])


def _loss(objective: Objective, scores: Any, labels: Any) -> Any:
    if objective.kind == "cross_entropy":
        return cross_entropy(scores.reshape(-1, objective.classes), labels.reshape(-1))
    if objective.kind == "ctc":
        return ctc_loss(scores, labels)
    if objective.kind == "mean":
        return jnp.mean(scores.astype(jnp.float32))
    return mean_squared_error(scores, labels)


def update(config: RunConfig) -> Callable[..., tuple[Tree, dict[str, Tree]]]:
    """``f(trained, state, gradients, step from 1, key[, scale]) -> (trained, state)``; gradients already summed and
    averaged, and larger by ``scale`` (the configured one unless given)."""
    optimiser = optimiser_of(config)
    fixed = loss_scale(config)

    @jax.jit  # traced once for every shape, not for every weight
    def one(weight: Any, slope: Any, state: Mapping[str, Any], shared: Any, key: Any, back: Any) -> tuple[Any, Tree]:
        slope = slope.astype(jnp.float32)
        slope = slope if back is None else slope * back
        wide, state = optimiser.rule(
            weight.astype(jnp.float32), slope, state, shared, config.learning_rate, config.momentum
        )
        return (round_stochastically(wide, key) if weight.dtype == jnp.float16 else wide), dict(state)

    def run(
        trained: Tree, state: dict[str, Tree], slopes: Tree, step: Any, key: Any, scale: Any = fixed
    ) -> tuple[Tree, dict[str, Tree]]:
        back = None if isinstance(scale, float) and scale == 1.0 else 1.0 / scale
        done: dict[str, tuple[Any, Tree]] = {}
        with jax.named_scope(UPDATE_SCOPE):
            shared = optimiser.shared(step)
            for index, name in enumerate(sorted(trained)):
                with jax.named_scope(scope_name(index)):
                    chance = _key(key, index, config)
                    done[name] = one(trained[name], slopes[name], state[name], shared, chance, back)
        return {n: w for n, (w, _) in done.items()}, {n: s for n, (_, s) in done.items()}

    return run


def _key(key: Any, index: int, config: RunConfig) -> Any:
    return jax.random.fold_in(key, index) if config.precision == "fp16" else key


def initial_state(trained: Mapping[str, WeightSpec | Any], config: RunConfig) -> dict[str, Tree]:
    """Zeroed optimiser state for each trained weight."""
    slots = optimiser_of(config).slots
    return {name: {slot: jnp.zeros(w.shape, jnp.float32) for slot in slots} for name, w in trained.items()}
