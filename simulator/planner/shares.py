"""Ragged division of whole amounts over tiles. Sums are exact; nothing here knows what is divided."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@lru_cache(maxsize=2048)
def shares(amount: int, parts: int, grain: int = 1) -> Ints:
    """``amount`` over ``parts`` as evenly as grains allow: larger shares first, the broken grain last.

    Shape [parts]; sums to ``amount``. The result is shared between callers and cannot be written.
    """
    grains = -(-amount // grain)
    base, more = divmod(grains, parts)
    counts = np.full(parts, base, dtype=np.int64)
    counts[:more] += 1
    sizes = counts * grain
    broken = grains * grain - amount
    if broken:
        sizes[np.flatnonzero(counts)[-1]] -= broken
    sizes.setflags(write=False)
    return sizes


def spread(amount: int, used: int, tiles: int, grain: int = 1) -> Ints:
    """Shares over the first ``used`` of ``tiles`` tiles, nothing on the rest. Shape [tiles]."""
    out = np.zeros(tiles, dtype=np.int64)
    out[:used] = shares(amount, used, grain)
    return out


def proportional(amount: int, weights: Ints) -> Ints:
    """``amount`` in proportion to ``weights`` (not all zero), with an exact sum. Shape of ``weights``."""
    total = int(weights.sum())
    # exact integers of Python where 64 bits could overflow
    exact = np.cumsum(weights).astype(object) if amount * total >= 2**62 else np.cumsum(weights)
    edges: Ints = ((exact * amount) // total).astype(np.int64)
    edges[1:] -= edges[:-1].copy()
    return edges


def rolled(amount: Ints, start: int) -> Ints:
    """``amount`` of tiles counted from tile ``start``, wrapping round, as it lies on tile 0, 1, ... Shape [tiles]."""
    if start == 0:
        return amount
    left = len(amount) - start
    return np.concatenate((amount[left:], amount[:left]))


def ceil_divide(amount: Ints | int, share: Ints | int) -> Ints:
    """Element-wise division rounded up."""
    return (np.asarray(amount, dtype=np.int64) + (share - 1)) // share
