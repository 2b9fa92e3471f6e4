"""Memory in the report: bytes of tiles by category, the fullest tile, liveness over the program, what is over."""

from __future__ import annotations

from typing import Any

import numpy as np

from simulator.memory.fit import top_tensors
from simulator.memory.lifetimes import CATEGORIES
from simulator.report.parts import Parts

LIVENESS_POINTS = 200


def memory_section(parts: Parts) -> dict[str, Any]:
    """The fullest IPU of a replica."""
    memory, ops = parts.memory, parts.graph.ops
    used = memory.tile_bytes
    worst = memory.worst_tile
    return {
        "tiles": parts.ipu.tiles,
        "bytes_per_tile": parts.ipu.bytes_per_tile,
        "categories": list(CATEGORIES),
        "by_tile": {name: memory.by_tile[name].tolist() for name in CATEGORIES},
        "totals": {name: int(memory.by_tile[name].sum()) for name in CATEGORIES},
        "total_bytes": int(used.sum()),
        "worst_tile": {
            "tile": worst,
            "bytes": int(used[worst]),
            "free": parts.ipu.bytes_per_tile - int(used[worst]),
            "top_tensors": list(top_tensors(memory, parts.graph)),
        },
        "peak_step": {"op": memory.worst_step, "source": ops.source[memory.worst_step] if len(ops) else ""},
        "liveness": _liveness(parts),
        "overflow": None if parts.overflow is None else parts.overflow.to_dict(),
    }


def _liveness(parts: Parts) -> list[dict[str, Any]]:
    """Bytes over all tiles at up to 200 steps, the fullest among them."""
    memory, steps = parts.memory, len(parts.graph.ops)
    if steps == 0:
        return []
    chosen = np.unique(np.linspace(0, steps - 1, min(steps, LIVENESS_POINTS - 2)).round().astype(int))
    peak = int(np.argmax(memory.not_always_live))
    return [
        {
            "op": int(i),
            "source": parts.graph.ops.source[i],
            "always_live": memory.always_live,
            "not_always_live": int(memory.not_always_live[i]),
        }
        for i in sorted({*chosen.tolist(), peak, memory.worst_step})
    ]
