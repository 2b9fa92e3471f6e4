"""float32 to float16 by chance, in proportion to the distance: what the IPU does in hardware, so it costs one cast."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from simulator.composites.catalogue import elementwise, whole

LOST_BITS = 13  # of float32's 23 fraction bits, float16 keeps 10


@whole("ELEMENTWISE", elementwise("cast"))
def stochastic_round(x: Any, key: Any) -> Any:
    bits = jax.lax.bitcast_convert_type(x, jnp.uint32)
    noise = jax.random.bits(key, x.shape, jnp.uint32) >> (32 - LOST_BITS)
    # a carry out of the fraction moves into the exponent, which is the next float16 as it should be
    rounded = (bits + noise) & ~jnp.uint32((1 << LOST_BITS) - 1)
    value = jax.lax.bitcast_convert_type(rounded, jnp.float32)
    return jnp.where(jnp.isfinite(x), value, x).astype(jnp.float16)


def round_stochastically(x: Any, key: Any) -> Any:
    """``x`` float32 to float16, up or down by chance so that the mean is kept; non-finite values stay so."""
    return stochastic_round(x, key)
