"""Makes a copy of a view that crosses to another IPU where that is less than what it is a view of. It plans nothing.

An inter-IPU copy takes the part that is read and no more: a slice goes across, not what it was sliced from (U-Net crops
before it sends for that reason: graphcore/examples, vision/unet_medical, model_utils.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from simulator.graph.edit import Columns, Row, put_together, rows_of
from simulator.graph.graph import Graph, Kind, Role
from simulator.parallel.stages import EVERYWHERE, Staging


@dataclass(frozen=True)
class _View:
    """``tensor``, a view smaller than ``root``, is all that other IPUs read of what operator ``writer`` makes."""

    root: int
    tensor: int
    writer: int


def with_views_made(graph: Graph, staging: Staging, stage_ipus: Sequence[int]) -> tuple[Graph, Staging]:
    """The graph in which smaller views that cross are tensors of their own, with the stages of its operators."""
    rows, tensors = rows_of(graph, staging.of), Columns(graph.tensors)
    views = _crossing(graph, staging, stage_ipus)
    if not views:
        return graph, staging
    made: dict[int, list[Row]] = defaultdict(list)
    for view in views:
        writer = rows[view.writer]
        copy = tensors.like(view.tensor, tensors.role[view.tensor])
        for index, row in enumerate(rows):
            if _apart(row.stage, writer.stage, stage_ipus):
                rows[index] = replace(row, inputs=tuple(_instead(t, view.tensor, copy, tensors) for t in row.inputs))
        attributes = {"op": "slice", "bytes": tensors.bytes[copy]}
        made[view.writer].append(replace(
            writer, kind=int(Kind.MOVEMENT), primitive="slice", attributes=attributes, repeats=1,
            inputs=(view.tensor,), outputs=(copy,),
        ))  # fmt: skip
    every = [each for index, row in enumerate(rows) for each in (row, *made.get(index, ()))]
    held = {t for pair in graph.gradients for t in pair}
    put = put_together(graph, every, tensors, always=held)
    home = {put.number[root]: stage for root, stage in staging.home.items()}
    return put.graph, replace(staging, of=put.stages, home=home)


def _apart(stage: int, other: int, stage_ipus: Sequence[int]) -> bool:
    return EVERYWHERE not in (stage, other) and stage_ipus[stage] != stage_ipus[other]


def _crossing(graph: Graph, staging: Staging, stage_ipus: Sequence[int]) -> list[_View]:
    """Views to make: of each root of which all other IPUs read the same, smaller, view."""
    ops, tensors = graph.ops, graph.tensors
    writers: dict[int, int] = {}
    for index, outputs in enumerate(ops.outputs):
        for tensor in outputs:
            writers[tensors.root(tensor)] = index
    read: dict[int, set[int]] = defaultdict(set)
    for index, inputs in enumerate(ops.inputs):
        for tensor in inputs:
            root = tensors.root(tensor)
            if root in writers and _apart(staging.of[index], staging.of[writers[root]], stage_ipus):
                read[root].add(_smallest(tensor, graph))
    return [
        _View(root, next(iter(seen)), writers[root]) for root, seen in read.items()
        if len(seen) == 1 and root not in seen and Role(tensors.role[root]) in (Role.ACTIVATION, Role.GRADIENT)
    ]  # fmt: skip


def _smallest(tensor: int, graph: Graph) -> int:
    """The first view on the way from ``tensor`` to its root that is no larger than ``tensor``; a root stands for views
    of its whole size."""
    tensors, at = graph.tensors, tensor
    while (before := int(tensors.alias_of[at])) >= 0 and tensors.bytes[before] <= tensors.bytes[tensor]:
        at = before
    return at


def _instead(tensor: int, view: int, copy: int, tensors: Columns) -> int:
    """``tensor`` read from ``copy`` where it is ``view`` or a view of that."""
    if tensor == view:
        return copy
    if tensors.alias_of[tensor] < 0 or not _views(tensor, view, tensors):
        return tensor
    return tensors.add(
        tensors.bytes[tensor], tensors.role[tensor], tensors.shape[tensor], tensors.dtype[tensor], alias_of=copy,
        name=tensors.name[tensor],
    )  # fmt: skip


def _views(tensor: int, view: int, tensors: Columns) -> bool:
    while tensor >= 0 and tensor != view:
        tensor = tensors.alias_of[tensor]
    return tensor == view
