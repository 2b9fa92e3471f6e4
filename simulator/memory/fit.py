"""Whether a memory map fits the chip, and which tile, step and tensors say no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from simulator.graph.graph import Graph
from simulator.machines.ipu import Ipu
from simulator.memory.tilemap import MemoryMap
from simulator.units import Bytes

CODE = ("vertex_code", "exchange_code", "control_code")
LISTED_TENSORS = 8


KINDS = {
    "code": (*CODE, "vertex_state", "stacks"),
    "exchange buffer": ("temporaries",),
    "stream": ("stream_buffers",),
}  # all else is data


@dataclass(frozen=True)
class Overflow:
    """The tile that is over, by how many bytes, in which region, at which step.

    ``kind``: what takes most of it: "data", "exchange buffer" (what operators need while they run), "code", "stream".
    """

    tile: int
    step: int
    over_by: Bytes
    region: str  # "memory": all of it; "code": the part that instructions can be fetched from
    kind: str
    used: Bytes
    available: Bytes
    tensors: tuple[dict[str, Any], ...]

    @property
    def poplar_message(self) -> str:
        """What Poplar's compiler says of it, so that its words can be searched for."""
        return (
            f"Out of memory on tile {self.tile}: {self.used} bytes used but tiles only have "
            f"{self.available} bytes of memory"
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "tile": self.tile,
            "step": self.step,
            "over_by": self.over_by,
            "region": self.region,
            "kind": self.kind,
            "poplar_message": self.poplar_message,
            "tensors": list(self.tensors),
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


def overflow(memory: MemoryMap, graph: Graph, ipu: Ipu) -> Overflow | None:
    """None when everything fits."""
    over = int(memory.tile_bytes[memory.worst_tile]) - ipu.bytes_per_tile
    if over > 0:
        return Overflow(
            memory.worst_tile, memory.worst_step, over, "memory", kind_of(memory), ipu.bytes_per_tile + over,
            ipu.bytes_per_tile, top_tensors(memory, graph),
        )  # fmt: skip
    code = np.sum([memory.by_tile[name] for name in CODE], axis=0)
    tile = int(np.argmax(code))
    region = ipu.whole("tile.standard_region")
    over = int(code[tile]) - region
    if over <= 0:
        return None
    tensors = top_tensors(memory, graph)
    return Overflow(tile, memory.worst_step, over, "code", "code", region + over, region, tensors)


def kind_of(memory: MemoryMap) -> str:
    """What takes most of the worst tile."""
    on_tile = {name: int(column[memory.worst_tile]) for name, column in memory.by_tile.items()}
    sums = {kind: sum(on_tile[name] for name in names) for kind, names in KINDS.items()}
    sums["data"] = sum(on_tile.values()) - sum(sums.values())
    return max(sums, key=lambda kind: sums[kind])
