"""The operators of a step, those of one node of the user's model and one pass together, and what the model covers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from simulator.graph.graph import Graph, Kind, Pass
from simulator.report.parts import IpuClass, Parts


class _Key(NamedTuple):
    source: str
    kind: str
    pass_: str
    primitive: str
    ipu: int
    stage: int


@dataclass
class _Row:
    count: int = 0
    cycles: list[int] = field(default_factory=lambda: [0, 0, 0])
    flops: int = 0
    tiles: int = 0
    bytes: int = 0
    exchanged: int = 0


def operators(parts: Parts) -> list[dict[str, Any]]:
    """Rows sorted by time, longest first; each is of one IPU of a replica, all its executions in a step together."""
    rows: dict[_Key, _Row] = {}
    for each in parts.classes:
        _add(rows, each)
    found = [_worded(key, row, parts) for key, row in rows.items()] + _outside(parts)
    return sorted(found, key=lambda row: (-row["seconds"], row["name"], row["pass"], row["primitive"], row["ipu"]))


def _add(rows: dict[_Key, _Row], each: IpuClass) -> None:
    ops, line = each.graph.ops, each.timeline
    cycles = np.stack([line.compute, line.exchange, line.sync], axis=1).tolist()
    kinds, passes = ops.kind.tolist(), ops.pass_.tolist()
    for i, (plan, times) in enumerate(zip(each.assignment.plans, line.executions.tolist(), strict=True)):
        kind, pass_ = Kind(kinds[i]).name.lower(), Pass(passes[i]).name.lower()
        key = _Key(ops.source[i], kind, pass_, ops.primitive[i], each.ipu, each.stage_of[i])
        row = rows.setdefault(key, _Row())
        row.count += times
        row.cycles = [held + more for held, more in zip(row.cycles, cycles[i], strict=True)]
        row.flops += plan.flops * times
        row.tiles = max(row.tiles, plan.tiles_used)
        row.bytes += touched(each.graph, i) * times
        row.exchanged += plan.received * times


def touched(graph: Graph, index: int) -> int:
    """Bytes that operator ``index`` reads and writes once: its distinct operands and its results."""
    tensors, ops = graph.tensors, graph.ops
    read = {tensors.root(tensor) for tensor in ops.inputs[index]}
    written = {tensors.root(tensor) for tensor in ops.outputs[index]}
    return sum(int(tensors.bytes[root]) for root in read) + sum(int(tensors.bytes[root]) for root in written)


def _worded(key: _Key, row: _Row, parts: Parts) -> dict[str, Any]:
    compute, exchange, sync = row.cycles
    return {
        "name": key.source or key.primitive,
        "kind": key.kind,
        "pass": key.pass_,
        "primitive": key.primitive,
        "ipu": key.ipu,
        "stage": None if key.stage < 0 else key.stage,
        "count": row.count,
        "seconds": parts.seconds(sum(row.cycles)),
        "share": sum(row.cycles) / max(1, parts.step_cycles),
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
    """Transfers with the host, between the IPUs of a replica and between replicas, as rows of their own."""
    found, line = [], parts.busiest.timeline
    passes = {"host": "forward", "collective": "update", "copy": "forward"}
    for kind, events in (("host", line.host), ("collective", line.collectives), ("copy", line.copies)):
        for event in events:
            cycles = [event.compute, event.transfer, event.sync]
            row = _Row(event.times, cycles, 0, parts.ipu.tiles, event.bytes, event.bytes)
            key = _Key(event.name, kind, passes[kind], kind, parts.busiest.ipu, -1)
            found.append({**_worded(key, row, parts), "bound_by": kind})
    return found


def coverage(parts: Parts) -> dict[str, Any]:
    """How much of the step is costed by a model of its own, and the operators that are not."""
    fallbacks: dict[tuple[str, str], int] = {}
    total = modelled = time = modelled_time = 0
    for each in parts.classes:
        ops, line = each.graph.ops, each.timeline.operators
        known = np.array([plan.modelled for plan in each.assignment.plans], dtype=bool)
        total, modelled = total + len(ops), modelled + int(known.sum())
        time, modelled_time = time + int(line.sum()), modelled_time + int(line[known].sum())
        for i in np.flatnonzero(~known):
            attributes = ops.attributes[i]
            name = str(attributes.get("op") or attributes.get("function") or ops.primitive[i])
            fallbacks[name, ops.source[i]] = fallbacks.get((name, ops.source[i]), 0) + 1
    return {
        "operators_total": total,
        "operators_modelled": modelled,
        "share_of_time_modelled": modelled_time / time if time else 1.0,
        "fallbacks": [{"op": op, "source": source, "count": n} for (op, source), n in sorted(fallbacks.items())],
    }
