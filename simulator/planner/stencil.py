"""Sweeps over a mesh by hand-written vertices: how the mesh is cut, what comes in from neighbours, cycles of a cell.

A sweep is one superstep: the halo arrives, then all cells of the tile are written. Two copies of the mesh take turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, prod

import numpy as np

from simulator.machines.ipu import Ipu
from simulator.planner.exchange import Exchange
from simulator.planner.plan import PLANS_KEPT, Part, Plan, Recipe, Step, assemble
from simulator.planner.shares import Ints, ceil_divide, shares, spread
from simulator.planner.slice_choice import useful_cuts

START = 20  # cycles of a worker before its first cell, and after its last
CALL = 11  # cycles of the supervisor
REGISTERS = 8  # bytes that an instruction works on: a pair of registers
NARROWEST = 2  # bytes of a number that it does arithmetic on


@dataclass(frozen=True)
class Sweeps:
    """``mesh`` of one IPU, ``channels`` values a cell, ``points`` read for one written from ``rows`` rows of memory.

    ``lanes``: elements of an instruction. ``assembly``: one cycle a vector. ``pieces``: IPUs that share the mesh.
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


@dataclass(frozen=True)
class Between(Exchange):
    """A halo of which the edge goes over IPU-Links: every tile waits ``least`` cycles at least."""

    least: int = 0

    def cycles(self, ipu: Ipu) -> Ints:
        inside = super().cycles(ipu)
        return np.where(self.receive > 0, np.maximum(inside, self.least), inside)


def widest(itemsize: int) -> int:
    """Elements of an instruction at most."""
    return max(1, REGISTERS // max(NARROWEST, itemsize))


def cycles_of_vector(sweeps: Sweeps) -> int:
    """Cycles of a worker for one vector of cells.

    A plain loop issues one load a point, one store, one pointer step for each row and for the result, and a branch;
    arithmetic goes along in the other half of each bundle. By hand, two loads, the arithmetic and a store are one.
    """
    return 1 if sweeps.assembly else sweeps.points + 1 + sweeps.rows + 1


def sweep_cycles(sweeps: Sweeps, values: Ints, ipu: Ipu) -> Ints:
    """Tile cycles of one sweep over ``values``, shared by the workers in whole vectors."""
    vectors = ceil_divide(ceil_divide(values, sweeps.lanes), ipu.workers)
    return np.where(values > 0, ipu.workers * (START + vectors * cycles_of_vector(sweeps)) + CALL, 0)


@lru_cache(maxsize=256)
def cut_of(mesh: tuple[int, ...], ipu: Ipu) -> tuple[int, ...]:
    """Parts of each dimension: the smallest largest part of a tile, then the shortest edge."""
    return min(_cuts(mesh, ipu.tiles), key=lambda cut: _largest(mesh, cut))


def _cuts(mesh: tuple[int, ...], tiles: int) -> list[tuple[int, ...]]:
    if len(mesh) == 1:
        return [(min(mesh[0], tiles),)]
    return [
        (int(parts), *rest)
        for parts in useful_cuts(mesh[0], tiles)
        for rest in _cuts(mesh[1:], tiles // int(parts))
    ]  # fmt: skip


def _largest(mesh: tuple[int, ...], cut: tuple[int, ...]) -> tuple[int, int]:
    sides = [ceil(size / parts) for size, parts in zip(mesh, cut, strict=True)]
    return prod(sides), sum(prod(sides) // side for side in sides)


@lru_cache(maxsize=PLANS_KEPT)
def plan_stencil(sweeps: Sweeps, ipu: Ipu) -> Plan:
    """All sweeps of a run; the mesh stays where it is."""
    cut = cut_of(sweeps.mesh, ipu)
    sides = [shares(size, parts) for size, parts in zip(sweeps.mesh, cut, strict=True)]
    grid = np.stack([axis.reshape(-1) for axis in np.meshgrid(*sides, indexing="ij")])
    values = np.pad(grid.prod(axis=0) * sweeps.channels, (0, ipu.tiles - grid.shape[1]))
    halo = _halo(sweeps, cut, grid, ipu) if sweeps.halo else None
    steps = [Step("sweep", halo, sweep_cycles(sweeps, values, ipu), Part.SLICE, sweeps.steps)]
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
    pad = (0, ipu.tiles - len(area))
    receive, fragments = np.pad(receive, pad), np.pad(fragments, pad)
    total = int(receive.sum())
    send = spread(total, ipu.tiles, ipu.tiles, 4)
    least = _between(sweeps, ipu)
    return Between(receive, send, np.zeros_like(receive), np.minimum(fragments, ipu.tiles), total, least)


def _between(sweeps: Sweeps, ipu: Ipu) -> int:
    """Cycles of a face from IPU to IPU and of the sync of all of them; 0 on a single one."""
    if sweeps.pieces == 1:
        return 0
    face = prod(sweeps.mesh[1:]) * sweeps.channels * sweeps.itemsize
    rate = ipu.fact("links.ipu_link") * ipu.fact("links.ipu_link_efficiency") * ipu.fact("links.links_of_ring")
    sync = 2 * ipu.fact("sync.external_hop") * (1 + sweeps.pieces // 4)
    return ceil((face / rate + sync) * ipu.clock_hz)
