"""The operators of a step, those of one node of the user's model and one pass together, and what the model covers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simulator.graph.graph import Graph, Kind, Pass
from simulator.report.parts import Parts


@dataclass
class _Row:
    count: int = 0
    cycles: list[int] = field(default_factory=lambda: [0, 0, 0])
    flops: int = 0
    tiles: int = 0
    bytes: int = 0
    exchanged: int = 0


def operators(parts: Parts) -> list[dict[str, Any]]:
    """Rows sorted by time, longest first."""
    rows: dict[tuple[str, str, str, str], _Row] = {}
    ops, line = parts.graph.ops, parts.timeline
    for i, plan in enumerate(parts.assignment.plans):
        key = (ops.source[i], Kind(ops.kind[i]).name.lower(), Pass(ops.pass_[i]).name.lower(), ops.primitive[i])
        row = rows.setdefault(key, _Row())
        row.count += int(ops.repeats[i])
        for part, column in enumerate((line.compute, line.exchange, line.sync)):
            row.cycles[part] += int(column[i])
        row.flops += plan.flops * int(ops.repeats[i])
        row.tiles = max(row.tiles, plan.tiles_used)
        row.bytes += touched(parts.graph, i) * int(ops.repeats[i])
        row.exchanged += plan.received * int(ops.repeats[i])
    found = [_worded(key, row, parts) for key, row in rows.items()] + _outside(parts)
    return sorted(found, key=lambda row: (-row["seconds"], row["name"], row["pass"], row["primitive"]))


def touched(graph: Graph, index: int) -> int:
    """Bytes that operator ``index`` reads and writes once: its distinct operands and its results."""
    tensors, ops = graph.tensors, graph.ops
    read = {tensors.root(tensor) for tensor in ops.inputs[index]}
    written = {tensors.root(tensor) for tensor in ops.outputs[index]}
    return sum(int(tensors.bytes[root]) for root in read) + sum(int(tensors.bytes[root]) for root in written)


def _worded(key: tuple[str, str, str, str], row: _Row, parts: Parts) -> dict[str, Any]:
    source, kind, pass_, primitive = key
    compute, exchange, sync = row.cycles
    return {
        "name": source or primitive,
        "kind": kind,
        "pass": pass_,
        "primitive": primitive,
        "count": row.count,
        "seconds": parts.seconds(sum(row.cycles)),
        "share": sum(row.cycles) / max(1, parts.timeline.total),
        "compute_cycles": compute,
        "exchange_cycles": exchange,
        "sync_cycles": sync,
        "flops": row.flops,
        "bytes": row.bytes,
        "exchanged_bytes": row.exchanged,
        "tiles_used": row.tiles,
        "bound_by": ("compute", "exchange", "sync")[int(np.argmax(row.cycles))],
    }


def _outside(parts: Parts) -> list[dict[str, Any]]:
    """Transfers with the host and between IPUs as rows of their own."""
    found = []
    for kind, events in (("host", parts.timeline.host), ("collective", parts.timeline.collectives)):
        for event in events:
            row = _Row(1, [event.compute, event.transfer, event.sync], 0, parts.ipu.tiles, event.bytes)
            worded = _worded((event.name, kind, "update" if kind == "collective" else "forward", kind), row, parts)
            found.append({**worded, "bound_by": kind})
    return found


def coverage(parts: Parts) -> dict[str, Any]:
    """How much of the step is costed by a model of its own, and the operators that are not."""
    ops, line = parts.graph.ops, parts.timeline.operators
    modelled = np.array([plan.modelled for plan in parts.assignment.plans], dtype=bool)
    fallbacks: dict[tuple[str, str], int] = {}
    for i in np.flatnonzero(~modelled):
        attributes = ops.attributes[i]
        name = str(attributes.get("op") or attributes.get("function") or ops.primitive[i])
        key = (name, ops.source[i])
        fallbacks[key] = fallbacks.get(key, 0) + 1
    everything = max(1, int(line.sum()))
    return {
        "operators_total": len(ops),
        "operators_modelled": int(modelled.sum()),
        "share_of_time_modelled": int(line[modelled].sum()) / everything if len(ops) else 1.0,
        "fallbacks": [{"op": op, "source": source, "count": n} for (op, source), n in sorted(fallbacks.items())],
    }
