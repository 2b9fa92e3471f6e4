"""Losses that a file itself contains: negative log-likelihood and softmax cross-entropy, with class weights."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from simulator.composites.softmax import log_softmax
from simulator.frontends.onnx.call import Call
from simulator.frontends.onnx.registry import op


@op("NegativeLogLikelihoodLoss")
def negative_log_likelihood(call: Call, log_probabilities: Any, labels: Any, weights: Any = None) -> Any:
    return _likelihood(call, jnp.asarray(log_probabilities), jnp.asarray(labels), weights)


@op("SoftmaxCrossEntropyLoss")
def softmax_cross_entropy(call: Call, scores: Any, labels: Any, weights: Any = None) -> Any:
    logs = log_softmax(jnp.asarray(scores), 1)
    return _likelihood(call, logs, jnp.asarray(labels), weights), logs


def _likelihood(call: Call, logs: Any, labels: Any, weights: Any) -> Any:
    """``logs`` [N, C, ...] against ``labels`` [N, ...]; ignored labels weigh nothing."""
    ignored = call.attr("ignore_index")
    kept = jnp.ones(labels.shape, bool) if ignored is None else labels != ignored
    index = jnp.where(kept, labels, 0)
    picked = jnp.take_along_axis(logs, index[:, None], 1)[:, 0]
    weight = jnp.ones((), logs.dtype) if weights is None else jnp.asarray(weights)[index]
    weight = jnp.where(kept, weight, 0).astype(logs.dtype)
    loss = -picked * weight
    how = call.text("reduction", "mean")
    if how == "none":
        return loss
    return jnp.sum(loss) if how == "sum" else jnp.sum(loss) / jnp.sum(weight)
