"""From the graph of a replica to what each IPU runs: steps over tables, cut by stage, recomputation, sums, shares.

It decides from the configuration which rewrite is needed; each rewrite is a file of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from simulator.config import RunConfig
from simulator.graph.edit import Put
from simulator.graph.graph import Graph, Pass, Role
from simulator.graph.recompute import module_outputs, recomputed
from simulator.parallel.accumulate import accumulated
from simulator.parallel.replicas import Parallel
from simulator.parallel.serialising import serialised
from simulator.parallel.sharding import sharded
from simulator.parallel.sharing import parts_added_once
from simulator.parallel.stages import Staging, forward_sources, matches, unknown_node
from simulator.parallel.subgraphs import Hop, IpuGraph, cut
from simulator.parallel.views import with_views_made


def divide(
    graph: Graph, staging: Staging, config: RunConfig, parallel: Parallel, shard_minimum: int
) -> tuple[tuple[IpuGraph, ...], tuple[Hop, ...]]:
    """What each IPU of a replica runs, and what crosses between them. Raises ``parallel.node_unknown``.

    Weights below ``shard_minimum`` elements are never sharded.
    """
    if graph.training and config.recompute == "checkpoints":
        _check_names(graph, config.checkpoints)
    graph = serialised(graph, config.embedding_steps)
    if graph.training and parallel.ipus_per_replica > 1:
        graph, staging = parts_added_once(graph, staging, parallel.stage_ipus)
    graph, staging = with_views_made(graph, staging, parallel.stage_ipus)
    parts, hops = cut(graph, staging, parallel.stage_ipus)
    return tuple(_rewritten(part, staging, config, parallel, shard_minimum) for part in parts), hops


def _check_names(graph: Graph, names: Sequence[str]) -> None:
    sources = list(forward_sources(graph))
    for name in names:
        if not any(matches(source, name) for source in sources):
            raise unknown_node("checkpoints", name, sources)


def _rewritten(part: IpuGraph, staging: Staging, config: RunConfig, parallel: Parallel, shard_minimum: int) -> IpuGraph:
    if not part.graph.training:
        return part
    if config.recompute != "none":
        part = _recomputing(part, staging.count - 1, config)
    if parallel.accumulation > 1:
        part = _moved(part, accumulated(part.graph, part.stage_of))
    if config.shard_optimiser and parallel.replicas > 1:
        part = _moved(part, sharded(part.graph, part.stage_of, parallel.replicas, shard_minimum))
    return part


def _moved(part: IpuGraph, put: Put) -> IpuGraph:
    """``part`` after a rewrite that renumbered its tensors."""
    return replace(
        part,
        graph=put.graph,
        stage_of=put.stages,
        leaving=frozenset(put.number[root] for root in part.leaving if root in put.number),
        arriving=frozenset(put.number[root] for root in part.arriving if root in put.number),
    )


def _recomputing(part: IpuGraph, last_stage: int, config: RunConfig) -> IpuGraph:
    graph = part.graph
    names = config.checkpoints if config.recompute == "checkpoints" else ()
    kept = module_outputs(graph, names)
    return _moved(part, recomputed(graph, part.stage_of, kept, _not_again(part, last_stage, kept)))


def _not_again(part: IpuGraph, last_stage: int, kept: set[int]) -> set[int]:
    """Operators of the last stage after the last checkpoint: their backward pass follows at once, nothing is gained.

    Without a checkpoint in it that is the whole last stage.
    """
    ops, tensors = part.graph.ops, part.graph.tensors
    inside = [i for i in range(len(ops)) if part.stage_of[i] == last_stage and ops.pass_[i] == Pass.FORWARD]
    made = [i for i in inside if any(tensors.root(t) in kept for t in ops.outputs[i])]
    after = max(made, default=-1)
    return {i for i in inside if i > after or _is_output(part.graph, i)}


def _is_output(graph: Graph, index: int) -> bool:
    return any(graph.tensors.role[t] == Role.OUTPUT for t in graph.ops.outputs[index])
