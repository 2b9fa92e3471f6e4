"""An inference run: batch after batch through the compiled program on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import jax

from simulator.config import RunConfig
from simulator.numerics.data import Source, inference_source
from simulator.numerics.placing import Digest, declared, placed, placed_weights
from simulator.program import Array, Program


@dataclass
class Inferred:
    """``first`` are the outputs of the first batch; ``digest`` covers the outputs of all."""

    first: dict[str, Array] = field(default_factory=dict)
    batches: int = 0
    digest: str = ""
    stopped: bool = False


def infer(
    program: Program,
    config: RunConfig,
    *,
    source: Source | None = None,
    on_batch: Callable[[int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Inferred:
    """Run ``config.steps`` batches. Raises ``dataset.mismatch``."""
    source = source or inference_source(program, config.dataset, config.seed)
    call = jax.jit(program.call)
    weights = jax.device_put(placed_weights(program, config.precision))
    result, digest = Inferred(), Digest()
    for number in range(1, config.steps + 1):
        if should_stop is not None and should_stop():
            result.stopped = True
            break
        outputs = declared(program, call(weights, placed(source.batch(number - 1).inputs, config.precision)))
        digest.add(outputs)
        result.first = result.first or outputs
        result.batches = number
        if on_batch is not None:
            on_batch(number)
    result.digest = digest.hexadecimal()
    return result
