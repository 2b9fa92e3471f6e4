"""Losses over a micro-batch, whole in the trace: mean cross-entropy of scores and mean squared error. In float32."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.composites.catalogue import Shapes, rows_and_columns, whole
from simulator.composites.softmax import shifted_down


@whole("SOFTMAX", rows_and_columns("cross_entropy"))
def cross_entropy_forward(scores: Any, labels: Any) -> tuple[Any, Any]:
    """Mean loss and the class probabilities, saved for backward. scores [rows, classes], labels int [rows]."""
    shifted = shifted_down(scores.astype(jnp.float32))
    total = jnp.sum(jnp.exp(shifted), axis=-1, keepdims=True)
    picked = jnp.take_along_axis(shifted - jnp.log(total), labels[:, None], axis=-1)
    return -jnp.mean(picked), (jnp.exp(shifted) / total).astype(scores.dtype)


@whole("SOFTMAX", rows_and_columns("cross_entropy_backward"))
def cross_entropy_backward(probabilities: Any, labels: Any, g: Any) -> Any:
    hot = jax.nn.one_hot(labels, probabilities.shape[-1], dtype=jnp.float32)
    slope = g.astype(jnp.float32) / probabilities.shape[0]
    return ((probabilities.astype(jnp.float32) - hot) * slope).astype(probabilities.dtype)


@jax.custom_vjp
def cross_entropy(scores: Any, labels: Any) -> Any:
    """Mean over rows of -log softmax(scores)[label]: a float32 scalar."""
    return cross_entropy_forward(scores, labels)[0]


def _cross_entropy_saving(scores: Any, labels: Any) -> tuple[Any, Any]:
    loss, probabilities = cross_entropy_forward(scores, labels)
    return loss, (probabilities, labels)


def _cross_entropy_slopes(saved: tuple[Any, Any], g: Any) -> tuple[Any, Any]:
    probabilities, labels = saved
    return cross_entropy_backward(probabilities, labels, g), np.zeros(labels.shape, dtype=jax.dtypes.float0)


cross_entropy.defvjp(_cross_entropy_saving, _cross_entropy_slopes)


def _whole_tensor(shapes: Shapes) -> dict[str, Any]:
    elements = int(np.prod(shapes[0], dtype=np.int64))
    return {"op": "mean_squared_error", "inputs": 2 * elements, "outputs": 1, "depth": elements}


@whole("REDUCE", _whole_tensor)
def mean_squared_error_forward(predicted: Any, target: Any) -> Any:
    return jnp.mean(jnp.square(predicted.astype(jnp.float32) - target.astype(jnp.float32)))


def mean_squared_error(predicted: Any, target: Any) -> Any:
    """Mean over all elements of (predicted - target) squared: a float32 scalar."""
    return _mean_squared_error(predicted, target)


@jax.custom_vjp
def _mean_squared_error(predicted: Any, target: Any) -> Any:
    return mean_squared_error_forward(predicted, target)


def _squared_slopes(saved: tuple[Any, Any], g: Any) -> tuple[Any, Any]:
    predicted, target = saved
    slope = (2.0 / max(1, predicted.size)) * g * (predicted.astype(jnp.float32) - target.astype(jnp.float32))
    return slope.astype(predicted.dtype), (-slope).astype(target.dtype)


_mean_squared_error.defvjp(
    lambda predicted, target: (mean_squared_error_forward(predicted, target), (predicted, target)), _squared_slopes
)
