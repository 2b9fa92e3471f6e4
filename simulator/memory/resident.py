"""What a program itself occupies: code, exchange code, vertex state and stacks of each tile. Data is in ``tilemap``."""

from __future__ import annotations

import numpy as np

from simulator.machines.facts import whole
from simulator.machines.ipu import Ipu
from simulator.planner.assign import Assignment
from simulator.planner.shares import Ints, rolled

MATRIX_CODELETS = ("amp", "dot", "depthwise", "slic")


def resident_bytes(assignment: Assignment, ipu: Ipu) -> dict[str, Ints]:
    """Bytes of each tile, shape [tiles], by category. Equal operators are outlined: their code exists once."""
    zeros = np.zeros(ipu.tiles, dtype=np.int64)
    exchange_code, vertex_state = zeros.copy(), zeros.copy()
    control = len(assignment.plans) * whole("codelet.call")
    present: dict[str, np.ndarray] = {}
    seen: set[bytes] = set()
    for plan, start in zip(assignment.plans, assignment.starts, strict=True):
        if plan.content in seen:
            continue
        seen.add(plan.content)
        exchange_code += rolled(plan.exchange_code, start)
        vertex_state += rolled(plan.vertex_state, start)
        control += len(plan.supersteps) * whole("codelet.control_per_superstep")
        for name in plan.codelets:
            mask = present.setdefault(name, np.zeros(ipu.tiles, dtype=bool))
            mask |= rolled(plan.compute, start) > 0
    code = np.full(ipu.tiles, whole("codelet.runtime_code"), dtype=np.int64)
    for name in sorted(present):
        size = "codelet.amp_code" if name.startswith(MATRIX_CODELETS) else "codelet.vector_code"
        code += present[name] * whole(size)
    stack = ipu.workers * ipu.whole("tile.worker_stack") + ipu.whole("tile.supervisor_stack")
    return {
        "vertex_code": code,
        "exchange_code": exchange_code,
        "control_code": np.full(ipu.tiles, control, dtype=np.int64),
        "vertex_state": vertex_state,
        "stacks": np.full(ipu.tiles, stack, dtype=np.int64),
    }
