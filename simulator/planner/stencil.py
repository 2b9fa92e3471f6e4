"""Sweeps over a mesh by hand-written vertices: how the mesh is cut, what comes in from neighbours, cycles of a cell.

A sweep is one superstep: the halo arrives, then all cells of the tile are written. Two copies of the mesh take turns.
Cells of several channels lie in memory one after the other, so that a face across the rows is in pieces of a cell:
tiles gather them before they send and spread them when they have come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil, prod, sqrt
from typing import Any

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, ceil_divide, shares, spread
from simulator.planner.slice_choice import useful_cuts

PIECE = 14  # instructions of a worker for one piece: its entry, two pointers, a loop, two loads and stores, a branch
START = 20  # cycles of a worker before its first cell, and after its last
CALL = 11  # cycles of the supervisor
REGISTERS = 8  # bytes that an instruction works on: a pair of registers
NARROWEST = 2  # bytes of a number that it does arithmetic on


@dataclass(frozen=True)
class Sweeps:
    """``mesh`` of one IPU, ``channels`` values a cell, ``points`` read for one written from ``rows`` rows of memory.

    ``lanes``: elements of an instruction. ``assembly``: one cycle a vector. ``pieces``: IPUs that share the mesh.
    ``apart``: arithmetic instructions of a vector that share no bundle with a load. ``grid``: how the mesh is cut.
    """

    mesh: tuple[int, ...]
    channels: int
    points: int
    rows: int
    flops: int
    steps: int
    lanes: int
    assembly: bool
    pieces: int
    itemsize: int
    halo: bool
    apart: int = 0
    grid: str = "even"


@dataclass(frozen=True)
class Between(Exchange):
    """A halo of which the edge goes over IPU-Links: every tile waits ``least`` cycles at least."""

    least: int = 0

    def cycles(self, ipu: Ipu) -> Ints:
        inside = super().cycles(ipu)
        return np.where(self.receive > 0, np.maximum(inside, self.least), inside)


def sweeps_of(attributes: Mapping[str, Any], itemsize: int) -> Sweeps:
    """What an operator of the graph asks for; numbers of ``itemsize`` bytes limit how many an instruction takes."""
    a = attributes
    named = {key: a[key] for key in ("channels", "points", "rows", "flops", "apart", "grid", "steps", "assembly")}
    lanes = min(a["lanes"], widest(itemsize))
    whole = {"mesh": tuple(a["mesh"]), "pieces": a["pieces"], "halo": a["op"] != "triad"}
    return Sweeps(lanes=lanes, itemsize=itemsize, **whole, **named)


def widest(itemsize: int) -> int:
    """Elements of an instruction at most."""
    return max(1, REGISTERS // max(NARROWEST, itemsize))


def cycles_of_vector(sweeps: Sweeps) -> int:
    """Cycles of a worker for one vector of cells.

    A plain loop issues one load a point, one store, one pointer step for each row and for the result, and a branch;
    arithmetic goes along in the other half of each bundle, but for what comes when all is loaded. A loop over channels
    is unrolled: a cell takes one set of pointer steps. By hand, two loads, the arithmetic and a store are one.
    """
    vectors = max(1, sweeps.channels // sweeps.lanes)
    return 1 if sweeps.assembly else sweeps.points + 1 + sweeps.apart + ceil((sweeps.rows + 1) / vectors)


def sweep_cycles(sweeps: Sweeps, sides: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of one sweep over parts of ``sides`` cells: workers take whole rows, or share the only one.

    Shape of ``sides`` [dimensions, tiles].
    """
    lines, line = sides[:-1].prod(axis=0), sides[-1] * sweeps.channels
    if len(sides) == 1:
        lines, line = np.minimum(ipu.workers, line), ceil_divide(line, ipu.workers)
    vectors = ceil_divide(lines, ipu.workers) * ceil_divide(line, sweeps.lanes)
    return np.where(sides.prod(axis=0) > 0, ipu.workers * (START + vectors * cycles_of_vector(sweeps)) + CALL, 0)


@lru_cache(maxsize=256)
def cut_of(mesh: tuple[int, ...], ipu: Ipu, grid: str = "even") -> tuple[int, ...]:
    """Parts of each dimension: the smallest share of a worker, which takes whole rows, then of a tile, then edge.

    Of a ``grid`` "alike", as many rows of tiles as give its parts the shape of the mesh.
    """
    if grid == "alike" and len(mesh) == 2:
        height, width = mesh
        rows = min(height, ipu.tiles, ceil(sqrt(ipu.tiles * height / width)))
        return rows, min(width, ipu.tiles // rows)
    return min(_cuts(mesh, ipu.tiles), key=lambda cut: _largest(mesh, cut, ipu.workers))


def _cuts(mesh: tuple[int, ...], tiles: int) -> list[tuple[int, ...]]:
    if len(mesh) == 1:
        return [(min(mesh[0], tiles),)]
    return [
        (int(parts), *rest)
        for parts in useful_cuts(mesh[0], tiles)
        for rest in _cuts(mesh[1:], tiles // int(parts))
    ]  # fmt: skip


def _largest(mesh: tuple[int, ...], cut: tuple[int, ...], workers: int) -> tuple[int, int, int]:
    sides = [ceil(size / parts) for size, parts in zip(mesh, cut, strict=True)]
    rows = ceil(prod(sides[:-1]) / workers)
    return rows * sides[-1], prod(sides), sum(prod(sides) // side for side in sides)


@lru_cache(maxsize=PLANS_KEPT)
def plan_stencil(sweeps: Sweeps, ipu: Ipu) -> Plan:
    """All sweeps of a run; the mesh stays where it is."""
    cut = cut_of(sweeps.mesh, ipu, sweeps.grid)
    sides = [shares(size, parts) for size, parts in zip(sweeps.mesh, cut, strict=True)]
    grid = np.stack([axis.reshape(-1) for axis in np.meshgrid(*sides, indexing="ij")])
    grid = np.pad(grid, ((0, 0), (0, ipu.tiles - grid.shape[1])))
    values = grid.prod(axis=0) * sweeps.channels
    halo = _halo(sweeps, cut, grid, ipu) if sweeps.halo else None
    steps = [Step("sweep", halo, sweep_cycles(sweeps, grid, ipu), Part.SLICE, sweeps.steps)]
    pieces = piece_cycles(sweeps, cut, grid, ipu)
    if pieces.any():
        steps = [
            Step("gather faces", None, pieces, Part.COPY, sweeps.steps),
            Step("spread faces", halo, pieces, Part.COPY, sweeps.steps),
            replace(steps[0], exchange=None),
        ]
    arrived = np.zeros(ipu.tiles, dtype=np.int64) if halo is None else halo.receive
    name = f"stencil-{sweeps.points}-{sweeps.lanes}-{sweeps.itemsize}"
    return assemble(
        Recipe(
            "stencil", steps, values, (name,), tuple((f"cut {i}", parts) for i, parts in enumerate(cut)),
            temporary=arrived + (values * sweeps.itemsize if sweeps.steps > 1 and sweeps.halo else 0),
            flops=int(values.sum()) * sweeps.flops * sweeps.steps,
        ),
        ipu,
    )  # fmt: skip


def _halo(sweeps: Sweeps, cut: tuple[int, ...], grid: Ints, ipu: Ipu) -> Exchange:
    """Two faces of each dimension; a face across the rows of memory comes apart in every row."""
    cell = sweeps.channels * sweeps.itemsize
    area = grid.prod(axis=0)
    receive, fragments = np.zeros_like(area), np.zeros_like(area)
    for axis, parts in enumerate(cut):
        if parts > 1 or (axis == 0 and sweeps.pieces > 1):
            face = area // np.maximum(1, grid[axis])
            receive += 2 * face * cell
            fragments += 2 * face if axis == len(cut) - 1 else 2 * face // np.maximum(1, grid[-1])
    total = int(receive.sum())
    send = spread(total, ipu.tiles, ipu.tiles, 4)
    least = _between(sweeps, ipu)
    return Between(receive, send, np.zeros_like(receive), np.minimum(fragments, ipu.tiles), total, least)


def piece_cycles(sweeps: Sweeps, cut: tuple[int, ...], sides: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of gathering, or of spreading, the pieces of the two faces across the rows by one worker.

    None where a cell is a single value: its faces are read where they lie.
    """
    across = sweeps.halo and sweeps.channels > 1 and len(cut) > 1 and cut[-1] > 1
    pieces: Ints = 2 * sides[:-1].prod(axis=0) if across else np.zeros(ipu.tiles, dtype=np.int64)
    return pieces * (PIECE * ipu.workers)


def face_cycles(sweeps: Sweeps, ipu: Ipu) -> int:
    """Cycles of a face that goes to the next IPU, while another comes from it; 0 on a single one."""
    if sweeps.pieces == 1:
        return 0
    face = prod(sweeps.mesh[1:]) * sweeps.channels * sweeps.itemsize
    rate = ipu.fact("links.ipu_link") * ipu.fact("links.ipu_link_efficiency") * ipu.fact("links.links_of_ring")
    return ceil(face / rate * ipu.clock_hz)


def _between(sweeps: Sweeps, ipu: Ipu) -> int:
    """Cycles of the a face from IPU to IPU and of the sync of all of them; 0 on a single one."""
    if sweeps.pieces == 1:
        return 0
    sync = 2 * ipu.fact("sync.external_hop") * (1 + sweeps.pieces // 4)
    return face_cycles(sweeps, ipu) + ceil(sync * ipu.clock_hz)
