"""How many copies of a tensor wait for their backward pass while newer micro-batches go forwards."""

from __future__ import annotations

from collections.abc import Callable

from simulator.config import RunConfig
from simulator.graph.graph import Pass, Role
from simulator.memory.lifetimes import Held
from simulator.parallel.replicas import Parallel
from simulator.parallel.subgraphs import IpuGraph
from simulator.schedule.pipelining import waiting

# (stage that has it, stage that reads it, whether in its backward pass) -> copies that wait
Waits = Callable[[int, int, bool], int]
COPIED = frozenset({Role.ACTIVATION, Role.OUTPUT, Role.INPUT, Role.LABEL, Role.RECEIVED})


def stashed(part: IpuGraph, waits: Waits) -> dict[int, int]:
    """Copies of a root tensor beside the one in use: what the forward pass of a micro-batch has, and later work reads.

    It was made here, received, or came from the host; the reader is a later stage of this IPU or the backward pass.
    """
    ops, tensors = part.graph.ops, part.graph.tensors
    passes = ops.pass_.tolist()
    had: dict[int, int] = {}  # root -> the stage that first has it
    found: dict[int, int] = {}
    for index, (pass_, stage) in enumerate(zip(passes, part.stage_of, strict=True)):
        if pass_ == Pass.UPDATE:
            continue
        back = pass_ != Pass.FORWARD
        for root in map(tensors.root, ops.inputs[index]):
            role = Role(tensors.role[root])
            if root not in had and (root in part.arriving or role in (Role.INPUT, Role.LABEL)):
                had[root] = stage
            more = waits(had[root], stage, back) if root in had and role in COPIED else 0
            if more > 0:
                found[root] = max(found.get(root, 0), more)
        if not back:
            for tensor in ops.outputs[index]:
                had.setdefault(tensors.root(tensor), stage)
    return found


def held(part: IpuGraph, parallel: Parallel, config: RunConfig) -> Held:
    """What an IPU keeps beyond the order of its own operators."""
    stages, micro_batches = parallel.stages, parallel.micro_batches

    def waits(made: int, read: int, back: bool) -> int:
        return waiting(parallel.schedule, stages, made, read, micro_batches, back=back)

    stash = stashed(part, waits) if stages > 1 else {}
    offloaded = config.offload == "optimiser"
    return Held(stash, part.leaving, offloaded, passing=part.passing, width=parallel.tensor_parallel)
