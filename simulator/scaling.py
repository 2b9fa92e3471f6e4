"""The same replica on every slice of its system: how throughput grows with IPUs. Plans and memory are not made anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.laying import Laid
from simulator.machines.constants import Constants


def scaling(laid: Laid, config: RunConfig, constants: Constants) -> list[dict[str, Any]]:
    """One row a size of slice, smallest first; ``efficiency`` is against the smallest.

    Sizes on which replicas would be cut otherwise (a share of the state for each) are left out.
    """
    rows: list[dict[str, Any]] = []
    for ipus in laid.parallel.system.allowed_sizes:
        moved = _on(laid, config, ipus)
        if moved is None:
            continue
        seconds = moved.priced(constants).total / moved.ipu.clock_hz
        rate = moved.parallel.samples / seconds
        least = rows[0] if rows else {"ipus": ipus, "samples_per_second": rate}
        rows.append(
            {
                "ipus": ipus,
                "replicas": moved.parallel.replicas,
                "global_batch": moved.parallel.global_batch,
                "step_seconds": seconds,
                "samples_per_second": rate,
                "efficiency": rate / ipus / (least["samples_per_second"] / least["ipus"]),
            }
        )
    return rows


def _on(laid: Laid, config: RunConfig, ipus: int) -> Laid | None:
    try:
        return laid.moved(replace(config, system=laid.parallel.system.id, ipus=ipus, replicas=None))
    except SimulatorError:  # no whole number of replicas
        return None
