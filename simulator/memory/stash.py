"""How many copies of a tensor wait for their backward pass while newer micro-batches go forwards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator.config import RunConfig
from simulator.graph.graph import Pass, Role
from simulator.memory.lifetimes import Held
from simulator.parallel.replicas import Parallel
from simulator.parallel.subgraphs import IpuGraph
from simulator.schedule.pipelining import stash_depth

COPIED = frozenset({Role.ACTIVATION, Role.OUTPUT, Role.INPUT, Role.LABEL, Role.RECEIVED})


def stashed(part: IpuGraph, depth: Callable[[int], int]) -> dict[int, int]:
    """Copies of a root tensor beside the one in use. ``depth(stage)``: micro-batches that a stage holds at once.

    What the forward pass of a micro-batch has (made here, received, or from the host) and its backward pass reads.
    """
    ops, tensors = part.graph.ops, part.graph.tensors
    made = {tensors.root(t) for i in np.flatnonzero(ops.pass_ == Pass.FORWARD).tolist() for t in ops.outputs[i]}
    had = made | part.arriving
    found: dict[int, int] = {}
    for index, (pass_, stage) in enumerate(zip(ops.pass_.tolist(), part.stage_of, strict=True)):
        more = depth(stage) - 1 if pass_ in (Pass.BACKWARD, Pass.RECOMPUTE) else 0
        if more <= 0:
            continue
        for root in map(tensors.root, ops.inputs[index]):
            role = Role(tensors.role[root])
            if role in COPIED and (root in had or role in (Role.INPUT, Role.LABEL)):
                found[root] = max(found.get(root, 0), more)
    return found


def held(part: IpuGraph, parallel: Parallel, config: RunConfig) -> Held:
    """What an IPU keeps beyond the order of its own operators."""
    stages, micro_batches = parallel.stages, parallel.micro_batches

    def depth(stage: int) -> int:
        return stash_depth(parallel.schedule, stages, stage, micro_batches)

    stash = stashed(part, depth) if stages > 1 and parallel.training else {}
    return Held(stash, part.leaving, config.offload == "optimiser")
