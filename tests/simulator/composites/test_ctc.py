"""CTC loss: its value is the sum over all alignments, its slope that of the value, and it stays whole in a trace."""

from __future__ import annotations

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from simulator.composites.ctc import ctc_loss


def _said(path: tuple[int, ...]) -> list[int]:
    """What an alignment says: repeats are one, blanks nothing."""
    return [c for c, before in zip(path, (0, *path), strict=False) if c and c != before]


@pytest.mark.parametrize("labels", [[1, 2], [2, 2], [3, 1]])
def test_the_loss_is_the_sum_over_all_alignments(labels: list[int]) -> None:
    scores = np.random.default_rng(1).standard_normal((1, 5, 4)).astype(np.float32)
    logs = np.asarray(jax.nn.log_softmax(scores, -1))[0]
    chance = sum(
        np.exp(sum(logs[t, c] for t, c in enumerate(path)))
        for path in product(range(4), repeat=5)
        if _said(path) == labels
    )
    assert float(ctc_loss(jnp.asarray(scores), jnp.asarray([labels], jnp.int32))) == pytest.approx(
        -np.log(chance), rel=1e-5
    )


def test_samples_are_averaged() -> None:
    scores = jnp.asarray(np.random.default_rng(2).standard_normal((2, 6, 5)).astype(np.float32))
    labels = jnp.asarray([[1, 2, 3], [4, 4, 1]], jnp.int32)
    alone = [float(ctc_loss(scores[i : i + 1], labels[i : i + 1])) for i in range(2)]
    assert float(ctc_loss(scores, labels)) == pytest.approx(sum(alone) / 2, rel=1e-6)


def test_the_slope_is_that_of_the_loss() -> None:
    scores = np.random.default_rng(3).standard_normal((1, 6, 4)).astype(np.float32)
    labels = jnp.asarray([[1, 3]], jnp.int32)
    slope = np.asarray(jax.grad(ctc_loss)(jnp.asarray(scores), labels))
    step = np.zeros_like(scores)
    step[0, 2, 3] = 1e-2
    ahead, behind = (float(ctc_loss(jnp.asarray(scores + sign * step), labels)) for sign in (1, -1))
    assert slope[0, 2, 3] == pytest.approx((ahead - behind) / 2e-2, rel=1e-2)
    assert slope.sum(-1) == pytest.approx(0, abs=1e-5)  # of a softmax
