"""Cuts the graph of a replica into one plain Graph an IPU, and says what crosses between IPUs. It plans nothing.

What arrives from another IPU becomes a given tensor (RECEIVED); what leaves stays until the copy at the end of a cycle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from simulator.graph.edit import Columns, Row, put_together, rows_of
from simulator.graph.graph import Graph, Pass, Role
from simulator.parallel.stages import EVERYWHERE, Staging
from simulator.units import Bytes

STAYS = frozenset({Role.WEIGHT, Role.OPTIMISER_STATE, Role.CONSTANT, Role.INPUT, Role.LABEL})


@dataclass(frozen=True)
class Hop:
    """Bytes that go from one stage to another on another IPU, once a micro-batch or (``pass_`` UPDATE) once a step."""

    source: int
    target: int
    bytes: Bytes
    pass_: Pass


@dataclass(frozen=True)
class IpuGraph:
    """What IPU ``ipu`` of a replica runs. ``stage_of``: the stage of each operator.

    ``leaving``: roots that other IPUs read; ``arriving``: those that come from others in the forward pass;
    ``passing``: bytes of what only passes through stages of this IPU on its way to another.
    """

    ipu: int
    stages: tuple[int, ...]
    graph: Graph
    stage_of: tuple[int, ...]
    leaving: frozenset[int] = frozenset()
    arriving: frozenset[int] = frozenset()
    passing: Bytes = 0


def cut(graph: Graph, staging: Staging, stage_ipus: Sequence[int]) -> tuple[tuple[IpuGraph, ...], tuple[Hop, ...]]:
    """One graph an IPU in order of IPUs, and what crosses between them."""
    if len(set(stage_ipus)) == 1:
        return (IpuGraph(stage_ipus[0], tuple(range(staging.count)), graph, staging.of),), ()
    crossing = _Crossing(graph, staging, stage_ipus)
    rows = rows_of(graph, staging.of)
    ipus = sorted(set(stage_ipus))
    return tuple(_part(graph, rows, crossing, ipu, stage_ipus) for ipu in ipus), crossing.hops()


class _Crossing:
    """Who writes and who reads each tensor, by stage."""

    def __init__(self, graph: Graph, staging: Staging, stage_ipus: Sequence[int]) -> None:
        self.graph, self.staging, self.stage_ipus = graph, staging, stage_ipus
        self.writer: dict[int, int] = {}  # root -> stage
        self.read_in: dict[int, dict[int, Pass]] = defaultdict(dict)  # root -> stage -> first pass that reads it there
        self.made_in: dict[int, Pass] = {}
        roots = [graph.tensors.root(t) for t in range(len(graph.tensors))]
        for index, stage in enumerate(staging.of):
            pass_ = Pass(graph.ops.pass_[index])
            for tensor in graph.ops.inputs[index]:
                self.read_in[roots[tensor]].setdefault(stage, pass_)
            for tensor in graph.ops.outputs[index]:
                self.writer.setdefault(roots[tensor], stage)
                self.made_in.setdefault(roots[tensor], pass_)

    def ipu(self, stage: int) -> int:
        return self.stage_ipus[stage]

    def crosses(self, root: int) -> bool:
        """Whether an IPU other than the writer's reads ``root`` in the course of a step."""
        stays = Role(self.graph.tensors.role[root]) in STAYS
        if stays or root not in self.writer or self.writer[root] == EVERYWHERE:
            return False
        home = self.ipu(self.writer[root])
        return any(stage != EVERYWHERE and self.ipu(stage) != home for stage in self.read_in[root])

    def hops(self) -> tuple[Hop, ...]:
        """Each tensor goes from stage to stage until its last reader has it; weights that are shared go once a step."""
        found: dict[tuple[int, int, Pass], int] = defaultdict(int)
        for root in self.writer:
            if self.crosses(root):
                pass_ = Pass.UPDATE if self.once_a_step(root) else self.made_in[root]
                for source, target in self._way(root):
                    found[source, target, pass_] += int(self.graph.tensors.bytes[root])
        for root, home in self.staging.home.items() if self.graph.training else ():  # else they never change
            for stage in {s for s in self.read_in[root] if s != EVERYWHERE and self.ipu(s) != self.ipu(home)}:
                found[home, stage, Pass.UPDATE] += int(self.graph.tensors.bytes[root])
        return tuple(Hop(a, b, amount, pass_) for (a, b, pass_), amount in sorted(found.items()))

    def once_a_step(self, root: int) -> bool:
        """Whether only the update reads ``root`` on other IPUs than the writer's."""
        home = self.ipu(self.writer[root])
        far = [p for stage, p in self.read_in[root].items() if stage != EVERYWHERE and self.ipu(stage) != home]
        return all(pass_ == Pass.UPDATE for pass_ in far)

    def passing(self, ipu: int) -> Bytes:
        """What stages of ``ipu`` hold from one copy to the next although they neither write nor read it."""
        return self._passing.get(ipu, 0)

    @cached_property
    def _passing(self) -> dict[int, Bytes]:
        found: dict[int, Bytes] = defaultdict(int)
        for root, start in self.writer.items():
            ends = {start, *self.read_in[root]} - {EVERYWHERE}
            between = set(range(min(ends, default=0) + 1, max(ends, default=0))) - ends
            if between and self.crosses(root) and not self.once_a_step(root):
                for stage in between:
                    found[self.ipu(stage)] += int(self.graph.tensors.bytes[root])
        return dict(found)

    def _way(self, root: int) -> list[tuple[int, int]]:
        """Stages passed from the writer's to its readers', up or down the pipeline one at a time."""
        start = self.writer[root]
        readers = [s for s in self.read_in[root] if s != EVERYWHERE]
        if self.once_a_step(root):
            way = [(start, stage) for stage in readers if self.read_in[root][stage] == Pass.UPDATE]
        else:
            way = [(s, s + 1) for s in range(start, max(readers))]
            way += [(s, s - 1) for s in range(start, min(readers), -1)]
        return [(a, b) for a, b in way if self.ipu(a) != self.ipu(b)]


def _part(graph: Graph, rows: list[Row], crossing: _Crossing, ipu: int, stage_ipus: Sequence[int]) -> IpuGraph:
    here = {stage for stage, at in enumerate(stage_ipus) if at == ipu}
    own = [row for row in rows if row.stage in here]
    if any(row.pass_ == Pass.UPDATE for row in own):
        own = [row for row in rows if row.stage in here or row.stage == EVERYWHERE]
    tensors = Columns(graph.tensors)
    written = {tensors.root(t) for row in own for t in row.outputs}
    read = {tensors.root(t) for row in own for t in row.inputs}
    received = {root for root in read - written if Role(tensors.role[root]) not in STAYS}
    for root in received:
        tensors.role[root] = Role.RECEIVED
    leaving = {root for root in written if crossing.crosses(root) and crossing.ipu(crossing.writer[root]) == ipu}
    made_here = tuple((w, g) for w, g in graph.gradients if tensors.root(g) in written)
    held = {t for pair in made_here for t in pair}
    put = put_together(replace(graph, gradients=made_here), own, tensors, always=held, keep_given=False)
    return IpuGraph(
        ipu=ipu,
        stages=tuple(sorted(here)),
        graph=put.graph,
        stage_of=put.stages,
        leaving=frozenset(put.number[root] for root in leaving),
        arriving=frozenset(put.number[root] for root in received if crossing.made_in[root] == Pass.FORWARD),
        passing=crossing.passing(ipu),
    )
