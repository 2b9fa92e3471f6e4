"""Accumulation, shares of optimiser state, tables in steps: each changes what it says and nothing else."""

from dataclasses import replace
from math import prod

import numpy as np

from simulator.graph.edit import Columns, put_together, rows_of
from simulator.graph.graph import Graph, Kind, Operators, Pass, Role, Tensors, check
from simulator.parallel.accumulate import accumulated
from simulator.parallel.serialising import serialised
from tests.simulator.handmade import dense_step
from tests.simulator.layers import LAYERS, WIDTH, graph, laid, parts


def test_each_gradient_is_summed_in_place_and_the_update_reads_the_sum() -> None:
    found = laid(accumulation=4).planned[0].part.graph
    check(found)
    sums = [root for root, role in enumerate(found.tensors.role) if role == Role.ACCUMULATOR]
    owned = [root for root in sums if found.tensors.alias_of[root] < 0]
    assert len(owned) == LAYERS
    assert {int(found.tensors.bytes[root]) for root in owned} == {2 * WIDTH * WIDTH}
    added = [i for i in range(len(found.ops)) if found.ops.primitive[i] == "accumulate"]
    assert [found.ops.pass_[i] for i in added] == [Pass.BACKWARD] * LAYERS
    update = np.flatnonzero(found.ops.pass_ == Pass.UPDATE)
    read = {found.tensors.root(t) for i in update for t in found.ops.inputs[i]}
    assert set(owned) <= read
    assert not any(found.tensors.role[root] == Role.GRADIENT for root in read)


def test_without_accumulation_nothing_is_summed() -> None:
    assert Role.ACCUMULATOR not in laid(accumulation=1).planned[0].part.graph.tensors.role


def test_the_gradient_of_a_weight_that_the_loss_does_not_reach_needs_no_accumulator() -> None:
    step = dense_step()
    columns = Columns(step.tensors)
    unreached, zeros = (columns.add(8, role, (2,), "float32") for role in (Role.WEIGHT, Role.CONSTANT))
    wider = put_together(step, rows_of(step), columns, always=(unreached, zeros))
    pair = (wider.number[unreached], wider.number[zeros])
    step = replace(wider.graph, gradients=(*step.gradients, pair))
    put = accumulated(step, (0,) * len(step.ops))
    check(put.graph)
    assert [int(b) for b in put.graph.tensors.bytes[put.graph.tensors.role == Role.ACCUMULATOR]] == [4 * 64 * 48] * 2


def test_accumulation_repeats_forward_and_backward_and_updates_once() -> None:
    once, often = parts(accumulation=2), parts(accumulation=8)
    told = [
        {pass_: each.timeline.cycles_of_pass(each.graph, pass_) - _outside(each, pass_) for pass_ in Pass}
        for each in (once, often)
    ]
    assert told[1][Pass.FORWARD] == 4 * told[0][Pass.FORWARD]
    assert told[1][Pass.BACKWARD] == 4 * told[0][Pass.BACKWARD]
    assert told[1][Pass.UPDATE] == told[0][Pass.UPDATE]


def _outside(each: object, pass_: Pass) -> int:
    line = each.timeline  # type: ignore[attr-defined]
    events = {Pass.UPDATE: line.collectives, Pass.FORWARD: line.host + line.copies}.get(pass_, ())
    return sum(event.total for event in events)


def state_bytes(found: Graph) -> int:
    tensors = found.tensors
    owned = (tensors.role == Role.OPTIMISER_STATE) & (tensors.alias_of < 0)
    return int(tensors.bytes[owned].sum())


def test_state_is_shared_out_over_replicas_when_it_is_large_enough() -> None:
    whole, small, shared = (
        laid(machine=machine, shard_optimiser=shard).planned[0].part.graph
        for machine, shard in (({}, False), ({}, True), ({"update.shard_minimum": 4096}, True))
    )
    assert prod((WIDTH, WIDTH)) == 4096
    assert state_bytes(small) == state_bytes(whole), "fewer than 8,192 elements stay whole"
    assert state_bytes(shared) == state_bytes(whole) // 4
    check(shared)


def test_an_update_of_a_share_is_less_work_and_needs_less_memory() -> None:
    least = {"update.shard_minimum": 4096}
    whole, shared = (parts(shard_optimiser=shard, machine=least) for shard in (False, True))
    updated = [
        sum(
            each.graph.ops.attributes[i].get("elements", 0) for i in np.flatnonzero(each.graph.ops.pass_ == Pass.UPDATE)
        )
        for each in (whole, shared)
    ]
    assert 3.9 < updated[0] / updated[1] <= 4, "but for the few scalars that all updates share"
    held = [int(each.memory.by_tile["optimiser_state"].sum()) for each in (whole, shared)]
    assert held[1] * 4 == held[0]
    names = [event.name for event in shared.timeline.collectives]
    assert names == ["reduce-scatter", "all-gather"]
    assert sum(e.total for e in shared.timeline.collectives if e.name == "all-gather") > 0


def test_state_in_half_precision_is_half_the_bytes() -> None:
    single, half, mixed = (laid(state_precision=p).planned[0].part.graph for p in ("fp32", "fp16", "mixed"))
    check(half)
    assert state_bytes(half) * 2 == state_bytes(single)
    assert state_bytes(mixed) * 4 == state_bytes(single) * 3, "the first moment alone"
    held = [int(parts(state_precision=p).memory.by_tile["optimiser_state"].sum()) for p in ("fp32", "fp16")]
    assert held[1] * 2 == held[0]


def test_offloaded_state_is_fetched_for_the_update_and_takes_time() -> None:
    held, away = (parts(offload=offload) for offload in ("none", "optimiser"))
    assert away.memory.always_live < held.memory.always_live
    assert away.step_cycles > held.step_cycles
    assert [event.name for event in away.timeline.host][-1] == "optimiser state"


def tied_product(rows: int, width: int) -> Graph:
    """A table from which rows are gathered and onto which they are projected."""
    shapes = [(rows, width), (8,), (8, width), (8, rows)]
    return Graph(
        ops=Operators(
            kind=np.array([Kind.GATHER, Kind.MATMUL], np.int8),
            pass_=np.zeros(2, np.int8),
            repeats=np.ones(2, np.int64),
            source=("embed", "project"),
            primitive=("gather", "dot_general"),
            attributes=(
                {"op": "gather", "rows": 8, "row_elements": width, "table_rows": rows},
                {"batch": 1, "m": 8, "k": width, "n": rows},
            ),
            inputs=((0, 1), (2, 0)),
            outputs=((2,), (3,)),
        ),
        tensors=Tensors(
            bytes=np.array([4 * prod(shape) for shape in shapes], np.int64),
            role=np.array([Role.WEIGHT, Role.INPUT, Role.ACTIVATION, Role.OUTPUT], np.int8),
            alias_of=np.full(4, -1, np.int64),
            shape=tuple(shapes),
            dtype=("float32", "int32", "float32", "float32"),
            name=("table", "ids", "", "scores"),
        ),
    )


def test_products_with_the_table_are_done_in_steps() -> None:
    found = serialised(tied_product(1000, 64), 4)
    assert found.ops.repeats.tolist() == [1, 4]
    assert found.ops.attributes[1] == {"batch": 1, "m": 8, "k": 64, "n": 250}
    assert serialised(tied_product(1000, 64), 1).ops.repeats.tolist() == [1, 1]


def test_a_model_without_a_table_stays_as_it_is() -> None:
    plain = graph()
    assert serialised(plain, 4) is plain
    assert replace(plain) == plain
