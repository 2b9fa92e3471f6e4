"""Whether a memory map fits the chip, which tile, step and tensors say no, and what would make it fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.config import RunConfig
from simulator.graph.graph import Graph
from simulator.machines.facts import whole
from simulator.machines.ipu import Ipu
from simulator.memory.lifetimes import ALWAYS_LIVE
from simulator.memory.tilemap import MemoryMap
from simulator.units import Bytes, worded_bytes

CODE = ("vertex_code", "exchange_code", "control_code")
LISTED_TENSORS = 8
SHRINKING = 0.85  # of what passes through memory; the rest (gathered weights, padding) does not follow the batch


@dataclass(frozen=True)
class Overflow:
    """The tile that is over, by how many bytes, in which region, at which step."""

    tile: int
    step: int
    over_by: Bytes
    region: str  # "memory": all of it; "code": the part that instructions can be fetched from
    tensors: tuple[dict[str, Any], ...]
    remedies: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "tile": self.tile,
            "step": self.step,
            "over_by": self.over_by,
            "region": self.region,
            "tensors": list(self.tensors),
            "remedies": list(self.remedies),
        }


def top_tensors(memory: MemoryMap, graph: Graph) -> tuple[dict[str, Any], ...]:
    """The largest tensors on the worst tile at the worst step: name, source, bytes on that tile, category."""
    written_by: dict[int, int] = {}
    for index, outputs in enumerate(graph.ops.outputs):
        for tensor in outputs:
            written_by.setdefault(graph.tensors.root(tensor), index)
    order = sorted(range(len(memory.live)), key=lambda i: (-memory.on_worst_tile[i], memory.live[i][0]))
    found = []
    for i in order[:LISTED_TENSORS]:
        root, category = memory.live[i]
        writer = written_by.get(root)
        source = "" if writer is None else graph.ops.source[writer]
        name = graph.tensors.name[root] or (f"{graph.ops.primitive[writer]} output" if writer is not None else "")
        found.append({"name": name, "source": source, "bytes": memory.on_worst_tile[i], "category": category})
    return tuple(found)


def overflow(memory: MemoryMap, graph: Graph, config: RunConfig, ipu: Ipu) -> Overflow | None:
    """None when everything fits."""
    over = int(memory.tile_bytes[memory.worst_tile]) - ipu.bytes_per_tile
    if over > 0:
        return Overflow(
            memory.worst_tile, memory.worst_step, over, "memory", top_tensors(memory, graph),
            remedies(memory, config, ipu),
        )  # fmt: skip
    code = np.sum([memory.by_tile[name] for name in CODE], axis=0)
    tile = int(np.argmax(code))
    over = int(code[tile]) - whole("tile.standard_region")
    if over <= 0:
        return None
    advice = {
        "code": "memory.simplify",
        "text": "Code must lie in 208 KiB of each tile. Use fewer different shapes of operators, or a smaller model.",
    }
    return Overflow(tile, memory.worst_step, over, "code", top_tensors(memory, graph), (advice,))


def remedies(memory: MemoryMap, config: RunConfig, ipu: Ipu) -> tuple[dict[str, Any], ...]:
    """What to change, most promising first. Each is an estimate: the next run says whether it is enough."""
    on_tile = {name: int(column[memory.worst_tile]) for name, column in memory.by_tile.items()}
    lasting = sum(amount for name, amount in on_tile.items() if name in ALWAYS_LIVE)
    passing = sum(on_tile.values()) - lasting
    room = ipu.bytes_per_tile - lasting
    found: list[dict[str, Any]] = []
    if room > 0 and config.batch > 1 and passing > 0:
        batch = max(1, min(config.batch - 1, int(config.batch * SHRINKING * room / passing)))
        found.append(
            {
                "code": "memory.smaller_batch",
                "text": f"Lower the batch from {config.batch} to about {batch}: activations shrink with it.",
                "batch": batch,
            }
        )
    if config.precision == "fp32":
        found.append(
            {"code": "memory.half", "text": "Use precision fp16: weights and activations take half the bytes."}
        )
    if room > 0 and on_tile["temporaries"] > ipu.bytes_per_tile // 10 and config.available_memory_proportion > 0.1:
        less = round(config.available_memory_proportion / 2, 3)
        text = f"Lower the available memory proportion to {less}: matrix products work in more, smaller steps."
        found.append({"code": "memory.proportion", "text": text, "available_memory_proportion": less})
    if on_tile["optimiser_state"] > ipu.bytes_per_tile // 20:
        found.append({"code": "memory.optimiser", "text": "Use sgd: it keeps no state beside the weights."})
    if not found or room <= 0:
        text = (
            f"What stays in memory all the time takes {worded_bytes(lasting)} of this tile's "
            f"{worded_bytes(ipu.bytes_per_tile)}, and each IPU holds a whole replica. Use a smaller model."
        )
        found.append({"code": "memory.smaller_model", "text": text})
    return tuple(found)
