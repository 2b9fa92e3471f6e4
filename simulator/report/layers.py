"""Time of layers: the operators whose names begin alike ("layer3", "layer3.attention"), added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.report.names import path_of

DEEPEST = 4
MOST = 2000
SUMMED = ("seconds", "share", "compute_cycles", "exchange_cycles", "sync_cycles", "flops")


def layers(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each prefix that holds more than one node, in order of their paths; longest parts first.

    ``depth`` counts from 1; a layer's figures include those of the layers in it. Transfers are no layers.
    """
    inside = [(path_of(row["name"]), row) for row in rows if row["kind"] not in ("host", "collective", "copy")]
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    nodes: dict[tuple[str, ...], set[str]] = {}
    for path, row in inside:
        for depth in range(1, min(DEEPEST, len(path)) + 1):
            prefix = path[:depth]
            held = found.setdefault(prefix, dict.fromkeys(SUMMED, 0))
            nodes.setdefault(prefix, set()).add(row["name"])
            for name in SUMMED:
                held[name] += row[name]
    kept = [prefix for prefix in found if len(nodes[prefix]) > 1 or len(prefix) == 1]
    kept.sort(key=lambda prefix: [(-found[prefix[:n]]["seconds"], prefix[:n]) for n in range(1, len(prefix) + 1)])
    return [
        {"name": ".".join(prefix), "depth": len(prefix), "nodes": len(nodes[prefix]), **found[prefix]}
        for prefix in kept[:MOST]
    ]
