"""If: decided while tracing when its condition is known, else both branches with one chosen at run time."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from simulator.frontends.onnx.call import Call, is_known
from simulator.frontends.onnx.registry import op


@op("If", static=(0,))
def if_(call: Call, condition: Any) -> Any:
    if is_known(condition):
        taken = bool(call.known(condition, "condition").reshape(-1)[0])
        return tuple(call.branch("then_branch" if taken else "else_branch"))

    def side(name: str) -> Any:
        return lambda: tuple(jnp.asarray(v) for v in call.branch(name))

    return jax.lax.cond(jnp.asarray(condition).reshape(()), side("then_branch"), side("else_branch"))
