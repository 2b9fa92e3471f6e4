"""The sum over alignments of frames with tokens (CTC, Graves et al. 2006), whole in the trace; class 0 is the blank.

As PopLibs does it, the forward half finds the loss and its slope in one go by running over the frames from both ends;
saved for backward is that slope alone, which the backward half scales. In float32. What its steps cost is in
``planner/ctc.py``.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.composites.catalogue import Shapes, elementwise, whole
from simulator.composites.softmax import log_softmax

LOW = -1e30  # the logarithm of nothing, small enough to vanish and large enough to stay finite


def ctc_loss(scores: Any, labels: Any) -> Any:
    """Mean over samples of -log of the chance that ``scores`` [batch, time, classes] say ``labels`` [batch, tokens]: a
    float32 scalar. Every sample has all of its frames and tokens."""
    return _ctc(log_softmax(scores, -1), labels)


def _alignments(shapes: Shapes) -> dict[str, Any]:
    (batch, frames, classes), (_, tokens) = shapes[:2]
    return {"name": "ctc", "rows": batch * frames, "columns": classes, "frames": frames, "tokens": tokens}


def _unlikely(logs: Any, labels: Any) -> Any:
    """Mean of -log of the sum over alignments; ``logs`` float32 [batch, time, classes]."""
    batch, tokens = labels.shape
    wide = jnp.zeros((batch, 2 * tokens + 1), labels.dtype).at[:, 1::2].set(labels)  # a blank around every token
    said = jnp.take_along_axis(logs, wide[:, None, :], axis=2)
    skips = (wide != 0) & (wide != _moved(wide, 2, 0))
    first = jnp.where(jnp.arange(2 * tokens + 1) < 2, said[:, 0], LOW)

    def onward(alpha: Any, now: Any) -> tuple[Any, None]:
        stays = jnp.logaddexp(alpha, _moved(alpha, 1, LOW))
        return jnp.logaddexp(stays, jnp.where(skips, _moved(alpha, 2, LOW), LOW)) + now, None

    last, _ = jax.lax.scan(onward, first, jnp.moveaxis(said[:, 1:], 1, 0))
    return -jnp.mean(jnp.logaddexp(last[:, -1], last[:, -2]))


def _moved(x: Any, by: int, filled: Any) -> Any:
    """Columns of ``x`` [batch, columns] moved to the right."""
    return jnp.pad(x, ((0, 0), (by, 0)), constant_values=filled)[:, : x.shape[1]]


@whole("SOFTMAX", _alignments)
def ctc_forward(logs: Any, labels: Any) -> tuple[Any, Any]:
    """The loss and its slope against ``logs``, of their shape and dtype."""
    loss, slope = jax.value_and_grad(_unlikely)(logs.astype(jnp.float32), labels)
    return loss, slope.astype(logs.dtype)


@whole("ELEMENTWISE", elementwise("mul"))
def ctc_backward(slope: Any, g: Any) -> Any:
    return (slope.astype(jnp.float32) * g).astype(slope.dtype)


@jax.custom_vjp
def _ctc(logs: Any, labels: Any) -> Any:
    return ctc_forward(logs, labels)[0]


def _saving(logs: Any, labels: Any) -> tuple[Any, Any]:
    loss, slope = ctc_forward(logs, labels)
    return loss, (slope, labels)


def _slopes(saved: tuple[Any, Any], g: Any) -> tuple[Any, Any]:
    slope, labels = saved
    return ctc_backward(slope, g), np.zeros(labels.shape, dtype=jax.dtypes.float0)


_ctc.defvjp(_saving, _slopes)
