"""Products whose operands are 8-bit floats (4 bits of exponent, 3 of fraction), with results in float16.

Weights are stored larger by a power of two, so that small ones keep their digits; the matrix unit takes it back as it
writes its result, at no cost (Graphcore's 8-bit floats carry such a scale beside each tensor).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from simulator.composites.catalogue import elementwise, whole

FLOAT8 = "float8_e4m3fn"
WEIGHT_SCALE = 32.0
LARGEST = 448.0


def stored(weight: np.ndarray) -> np.ndarray:
    """A weight as the device keeps it: scaled up, saturated, in 8 bits."""
    scaled = np.clip(np.asarray(weight, np.float32) * WEIGHT_SCALE, -LARGEST, LARGEST)
    return scaled.astype(ml_dtypes.float8_e4m3fn)


def is_stored(weight: Any) -> bool:
    """True for a weight that ``stored`` made."""
    return bool(np.dtype(weight.dtype).name == FLOAT8)


@whole("ELEMENTWISE", elementwise("cast"))
def narrowed(x: Any) -> Any:
    """An activation in 8 bits, saturated: one cast."""
    return jnp.clip(x, -LARGEST, LARGEST).astype(ml_dtypes.float8_e4m3fn)


@jax.jit
def rescaled(product: Any) -> Any:
    """The product of an activation and a stored weight in its own size; the trace takes it for a view."""
    return product * jnp.asarray(1 / WEIGHT_SCALE, product.dtype)
