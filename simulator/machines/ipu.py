"""One IPU as the planner, the schedule and the memory map see it. Built from facts; systems are in ``catalogue``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from simulator.machines.facts import fact, whole


@dataclass(frozen=True)
class Ipu:
    """Constants of a chip. Bytes are of one tile, rates of one tile and cycle, unless the name says otherwise."""

    chip: str
    clock_hz: float
    tiles: int
    bytes_per_tile: int
    workers: int
    atom_bytes: int
    mapping_minimum_bytes: int
    exchange_bytes_per_cycle: int
    paired_bytes_per_cycle: int
    exchange_skew_cycles: int
    sync_cycles: int
    weight_load_cycles: int
    copy_bytes_per_cycle: int
    copy_call_cycles: int

    @property
    def superstep_cycles(self) -> int:
        """Fixed cost of the barrier and route skew of one superstep inside an IPU."""
        return self.sync_cycles + self.exchange_skew_cycles


@lru_cache(maxsize=16)
def ipu(chip: str) -> Ipu:
    """The chip called ``chip`` ("GC200")."""
    return Ipu(
        chip=chip,
        clock_hz=fact(f"chips.{chip.lower()}_clock"),
        tiles=whole("tile.count"),
        bytes_per_tile=whole("tile.memory"),
        workers=whole("tile.workers"),
        atom_bytes=whole("tile.atom"),
        mapping_minimum_bytes=whole("tile.mapping_minimum"),
        exchange_bytes_per_cycle=whole("exchange.bytes_per_cycle"),
        paired_bytes_per_cycle=whole("exchange.paired_bytes_per_cycle"),
        exchange_skew_cycles=whole("exchange.skew"),
        sync_cycles=whole("sync.internal"),
        weight_load_cycles=whole("amp.weight_load"),
        copy_bytes_per_cycle=whole("tile.copy_bytes_per_cycle"),
        copy_call_cycles=whole("tile.copy_call"),
    )
