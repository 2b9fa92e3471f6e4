"""Roofs of the chip and where operators stand under them: work against bytes moved in a tile and between tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simulator.config import RunConfig
from simulator.machines.ipu import Ipu

MATRIX_KINDS = frozenset({"matmul", "conv"})
MOST_POINTS = 200
MULTIPLY_ADD = 2
MACS_OF_UNIT = {"fp8": 8, "fp16": 4, "fp32": 1}  # a cycle


def peaks(config: RunConfig, ipu: Ipu) -> dict[str, float]:
    """FLOP/s and B/s that one IPU could reach: the matrix unit, the vector unit, memory of tiles, exchange."""
    half = config.precision != "fp32"
    chip = ipu.tiles * ipu.clock_hz
    if config.precision == "fp8":
        macs = ipu.whole("amp.units_quarter") * MACS_OF_UNIT["fp8"]
    else:
        macs = ipu.amp_units(half, config.partials == "fp16") * MACS_OF_UNIT[config.precision]
    vector = ipu.fact("tile.vector_flops_half" if half else "tile.vector_flops_single")
    return {
        "matrix_flops": MULTIPLY_ADD * macs * chip,
        "vector_flops": vector * chip,
        "sram_bytes": ipu.fact("tile.load_store_bytes_per_cycle") * chip,
        "exchange_bytes": ipu.exchange_bytes_per_cycle * chip,
    }


def roofline(rows: Sequence[dict[str, Any]], roofs: dict[str, float]) -> dict[str, Any]:
    """Roofs and points of the longest operators: FLOP for each byte, FLOP/s reached and the share of their roof."""
    working = [row for row in rows if row["flops"] > 0 and row["seconds"] > 0][:MOST_POINTS]
    return {
        "per": "IPU",
        "roofs": roofs,
        "ridge_flops_per_byte": {
            "sram": roofs["matrix_flops"] / roofs["sram_bytes"],
            "exchange": roofs["matrix_flops"] / roofs["exchange_bytes"],
        },
        "points": [_point(row, roofs) for row in working],
    }


def _point(row: dict[str, Any], roofs: dict[str, float]) -> dict[str, Any]:
    reached = row["flops"] / row["seconds"]
    matrix = row["kind"] in MATRIX_KINDS
    compute = roofs["matrix_flops" if matrix else "vector_flops"]
    memory = row["bytes"] and row["flops"] / row["bytes"] * roofs["sram_bytes"]
    moved = row["exchanged_bytes"] and row["flops"] / row["exchanged_bytes"] * roofs["exchange_bytes"]
    limits = {"compute": compute, "sram": memory or float("inf"), "exchange": moved or float("inf")}
    roof = min(limits, key=lambda name: limits[name])
    return {
        "name": row["name"],
        "pass": row["pass"],
        "kind": row["kind"],
        "seconds": row["seconds"],
        "flops_per_second": reached,
        "flops_per_byte": row["flops"] / row["bytes"] if row["bytes"] else None,
        "flops_per_exchanged_byte": row["flops"] / row["exchanged_bytes"] if row["exchanged_bytes"] else None,
        "roof": roof,
        "share_of_roof": reached / limits[roof],
        "share_of_peak": reached / compute,
    }
