"""Optimisers of one tensor each: state and rule. Defaults follow PyTorch, so that runs can be compared with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from simulator.config import RunConfig

BETA1 = 0.9
BETA2 = 0.999
EPSILON = 1e-8
WEIGHT_DECAY = 0.01  # of AdamW and LAMB
LAMB_EPSILON = 1e-6

State = Mapping[str, Any]
# (weight, gradient, state of this tensor, what all share, learning rate, momentum) -> (weight, state); all float32
Rule = Callable[[Any, Any, State, Any, float, float], tuple[Any, dict[str, Any]]]


def _nothing(step: Any) -> Any:
    return ()


@dataclass(frozen=True)
class Optimiser:
    """``slots`` names the tensors it keeps for each weight, all zero at the start, in the weight's shape.

    ``shared(step from 1)`` is computed once a step and handed to the rule of every weight.
    """

    slots: tuple[str, ...]
    rule: Rule
    shared: Callable[[Any], Any] = _nothing


def _sgd(w: Any, g: Any, state: State, shared: Any, rate: float, momentum: float) -> tuple[Any, dict[str, Any]]:
    return w - rate * g, {}


def _momentum(w: Any, g: Any, state: State, shared: Any, rate: float, momentum: float) -> tuple[Any, dict[str, Any]]:
    velocity = momentum * state["velocity"] + g
    return w - rate * velocity, {"velocity": velocity}


def _biases(step: Any) -> tuple[Any, Any]:
    """By how much the two running means, which begin at zero, are too small."""
    return 1 - jnp.power(BETA1, step), 1 - jnp.power(BETA2, step)


def _adam(w: Any, g: Any, state: State, shared: Any, rate: float, momentum: float) -> tuple[Any, dict[str, Any]]:
    first = BETA1 * state["first"] + (1 - BETA1) * g
    second = BETA2 * state["second"] + (1 - BETA2) * jnp.square(g)
    unbiased = first / shared[0]
    scale = jnp.sqrt(second / shared[1]) + EPSILON
    return w - rate * unbiased / scale, {"first": first, "second": second}


def _adamw(w: Any, g: Any, state: State, shared: Any, rate: float, momentum: float) -> tuple[Any, dict[str, Any]]:
    return _adam(w * (1 - rate * WEIGHT_DECAY), g, state, shared, rate, momentum)


def _lamb(w: Any, g: Any, state: State, shared: Any, rate: float, momentum: float) -> tuple[Any, dict[str, Any]]:
    """Adam with decay, each tensor's step as long as the trust ratio |w| / |step| says (You et al., 2020)."""
    first = BETA1 * state["first"] + (1 - BETA1) * g
    second = BETA2 * state["second"] + (1 - BETA2) * jnp.square(g)
    step = first / shared[0] / (jnp.sqrt(second / shared[1]) + LAMB_EPSILON) + WEIGHT_DECAY * w
    size, reach = jnp.sqrt(jnp.sum(jnp.square(w))), jnp.sqrt(jnp.sum(jnp.square(step)))
    trust = jnp.where((size > 0) & (reach > 0), size / jnp.where(reach > 0, reach, 1), 1.0)
    return w - rate * trust * step, {"first": first, "second": second}


OPTIMISERS: dict[str, Optimiser] = {
    "sgd": Optimiser((), _sgd),
    "momentum": Optimiser(("velocity",), _momentum),
    "adam": Optimiser(("first", "second"), _adam, _biases),
    "adamw": Optimiser(("first", "second"), _adamw, _biases),
    "lamb": Optimiser(("first", "second"), _lamb, _biases),
}


def optimiser_of(config: RunConfig) -> Optimiser:
    return OPTIMISERS[config.optimiser]
