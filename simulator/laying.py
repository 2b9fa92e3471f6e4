"""From a traced graph to plans on every IPU of a replica, which a what-if on constants keeps. No time, no memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from simulator.config import RunConfig
from simulator.graph.graph import Graph, alike
from simulator.machines.constants import Constants
from simulator.machines.ipu import Ipu
from simulator.parallel.balance import balanced_splits
from simulator.parallel.divide import divide
from simulator.parallel.feeding import as_bytes
from simulator.parallel.halving import with_half_state
from simulator.parallel.replicas import Parallel, lay_out
from simulator.parallel.stages import Staging, staged
from simulator.parallel.subgraphs import Hop, IpuGraph
from simulator.parallel.tensor_parallel import shared_products
from simulator.planner.assign import Options, assign
from simulator.planner.pricing import features
from simulator.planner.shares import Ints
from simulator.schedule.host import Traffic, traffic_of
from simulator.schedule.links import link_seconds
from simulator.schedule.step import Planned, Schedule, schedule

Tell = Callable[[float], None]
# of Parallel: what no plan depends on: the slice, when stages run, and where the optimiser's state waits
AFTER_PLAN = ("system", "ipus", "feed", "gradient_bytes", "schedule", "offload_optimiser")


@dataclass(frozen=True)
class Laid:
    """A graph on the IPUs of a replica, planned; ``hops`` cross between them."""

    graph: Graph
    parallel: Parallel
    staging: Staging
    ipu: Ipu
    planned: tuple[Planned, ...]
    hops: tuple[Hop, ...]

    def priced(self, constants: Constants) -> Schedule:
        """The time of a step under ``constants``: plans and layout stay."""
        return schedule(self.planned, self.hops, self.parallel, self.ipu, constants, self.traffic)

    @cached_property
    def traffic(self) -> Traffic:
        """What a replica has to do with the host."""
        return traffic_of([planned.part.graph for planned in self.planned])

    def moved(self, config: RunConfig) -> Laid | None:
        """The same plans on the slice and machine of ``config``; None where they depend on the slice.

        ``config`` may differ from that of ``lay`` in its slice, its schedule, its offload and in constants of the
        machine that decide no plan.
        """
        parallel = lay_out(config, self.graph.batch)
        alike: dict[str, Any] = {name: getattr(parallel, name) for name in AFTER_PLAN}
        resharded = parallel.shard_optimiser and parallel.replicas != self.parallel.replicas
        other_chip = parallel.system.chip != self.parallel.system.chip
        if resharded or other_chip or replace(self.parallel, **alike) != parallel:
            return None
        ipu = parallel.system.variant(config.machine)
        found = replace(self, parallel=_with_gradients(parallel, self.planned), ipu=ipu)
        vars(found)["traffic"] = self.traffic  # of the graphs alone
        return found


def lay(graph: Graph, config: RunConfig, tell: Tell | None = None) -> Laid:
    """Divide ``graph`` over the IPUs that ``config`` asks for, and plan every operator.

    Raises ``system.*``, ``parallel.*`` or ``machine.*``.
    """
    graph = as_bytes(graph) if config.host_input == "bytes" else graph
    if config.state_precision != "fp32":
        graph = with_half_state(graph, first_only=config.state_precision == "mixed")
    graph = shared_products(graph, config.tensor_parallel)
    parallel = lay_out(config, graph.batch)
    ipu = parallel.system.variant(config.machine)
    staging = staged(graph, chosen_splits(graph, config, ipu))
    parts, hops = divide(graph, staging, config, parallel, ipu.whole("update.shard_minimum"))
    planned = _plans(parts, config, ipu, tell or (lambda fraction: None))
    return Laid(graph, _with_gradients(parallel, planned), staging, ipu, planned, hops)


def _with_gradients(parallel: Parallel, planned: Sequence[Planned]) -> Parallel:
    summed = sum(each.gradient_bytes for each in planned) if parallel.training and parallel.replicas > 1 else 0
    return replace(parallel, gradient_bytes=summed)


def _options(config: RunConfig, stages: Sequence[int]) -> Options:
    """Of stages that share an IPU, the one with least memory to spare decides."""
    own = [config.stage_proportions[stage] for stage in stages] if config.stage_proportions else []
    return Options(min(own, default=config.available_memory_proportion), config.partials == "fp16")


def chosen_splits(graph: Graph, config: RunConfig, ipu: Ipu, weights: Ints | None = None) -> tuple[str, ...]:
    """The nodes that begin each stage after the first: those given, else balanced by ``weights`` (see ``weighed``).

    Raises ``parallel.illegal``.
    """
    if config.splits or config.pipeline_stages == 1:
        return config.splits
    cycles = weighed(graph, config, ipu) if weights is None else weights
    return balanced_splits(graph, config.pipeline_stages, cycles, link_seconds((0, 2), 1, ipu) * ipu.clock_hz)


def weighed(graph: Graph, config: RunConfig, ipu: Ipu) -> Ints:
    """Cycles of each operator of the whole model, to balance stages by. Shape [operators]."""
    whole = assign(graph, ipu, _options(config, range(config.pipeline_stages)))
    found: Ints = features(whole.plans).sum(axis=1) * graph.ops.repeats
    return found


def _plans(parts: Sequence[IpuGraph], config: RunConfig, ipu: Ipu, tell: Tell) -> tuple[Planned, ...]:
    """The plans of each IPU; IPUs of a pipeline that run alike share them."""
    found: list[Planned] = []
    for number, part in enumerate(parts):
        done, options = number / len(parts), _options(config, part.stages)
        twins = (
            each.assignment
            for each in found
            if _options(config, each.part.stages) == options and alike(each.part.graph, part.graph)
        )
        plans = next(twins, None)
        if plans is None:
            plans = assign(part.graph, ipu, options, lambda f, d=done: tell(d + f / len(parts)))  # type: ignore[misc]
        found.append(Planned(part, plans))
    return tuple(found)
