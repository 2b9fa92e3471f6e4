"""Memory in the report: bytes of tiles by category, the fullest tile, liveness over the program, what is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.memory.fit import top_tensors
from simulator.memory.lifetimes import CATEGORIES
from simulator.report.parts import IpuClass, Parts

LIVENESS_POINTS = 200


def memory_section(parts: Parts, advice: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The fullest IPU of a replica at length, every IPU in short under ``ipus``; ``advice`` for what does not fit."""
    each = parts.fullest
    memory, ops = each.memory, each.graph.ops
    used, worst = memory.tile_bytes, memory.worst_tile
    return {
        "tiles": parts.ipu.tiles,
        "bytes_per_tile": parts.ipu.bytes_per_tile,
        "ipu": each.ipu,
        "categories": list(CATEGORIES),
        "by_tile": {name: memory.by_tile[name].tolist() for name in CATEGORIES},
        "totals": {name: int(memory.by_tile[name].sum()) for name in CATEGORIES},
        "total_bytes": int(used.sum()),
        "worst_tile": {
            "tile": worst,
            "bytes": int(used[worst]),
            "free": parts.ipu.bytes_per_tile - int(used[worst]),
            "top_tensors": list(top_tensors(memory, each.graph)),
        },
        "peak_step": {"op": memory.worst_step, "source": ops.source[memory.worst_step] if len(ops) else ""},
        "liveness": _liveness(each),
        "ipus": [_short(each) for each in parts.classes],
        "overflow": None if parts.overflow is None else {**parts.overflow.to_dict(), "remedies": list(advice)},
    }


def _short(each: IpuClass) -> dict[str, Any]:
    memory = each.memory
    worst, used = memory.worst_tile, memory.tile_bytes
    return {
        "ipu": each.ipu,
        "stages": list(each.stages),
        "fits": each.overflow is None,
        "worst_tile": {
            "tile": worst,
            "bytes": int(used[worst]),
            "by_category": {name: int(memory.by_tile[name][worst]) for name in CATEGORIES},
        },
        "tile_bytes": used.tolist(),
        "totals": {name: int(memory.by_tile[name].sum()) for name in CATEGORIES},
        "total_bytes": int(used.sum()),
    }


def _liveness(each: IpuClass) -> list[dict[str, Any]]:
    """Bytes over all tiles at up to 200 steps, the fullest among them."""
    memory, steps = each.memory, len(each.graph.ops)
    if steps == 0:
        return []
    chosen = np.unique(np.linspace(0, steps - 1, min(steps, LIVENESS_POINTS - 2)).round().astype(int))
    peak = int(np.argmax(memory.not_always_live))
    return [
        {
            "op": int(i),
            "source": each.graph.ops.source[i],
            "always_live": memory.always_live,
            "not_always_live": int(memory.not_always_live[i]),
        }
        for i in sorted({*chosen.tolist(), peak, memory.worst_step})
    ]
