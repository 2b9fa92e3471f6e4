"""Forward work done again: only what the backward pass needs, from what was kept, with the same random keys."""

import numpy as np

from simulator.graph.graph import Graph, Pass, Role, check
from simulator.graph.recompute import module_outputs, recomputed
from simulator.memory.lifetimes import lifetimes
from tests.simulator.layers import graph, laid, parts

KEPT = ("layer0.", "layer1.", "layer2.")


def again(found: Graph) -> list[str]:
    return [found.ops.source[i] for i in np.flatnonzero(found.ops.pass_ == Pass.RECOMPUTE)]


def test_a_module_keeps_only_what_it_hands_on() -> None:
    found = graph()
    kept = module_outputs(found, ["layer1."])
    assert len(kept) == 1
    writer = next(i for i in range(len(found.ops)) if kept & {found.tensors.root(t) for t in found.ops.outputs[i]})
    assert found.ops.source[writer] == "layer1.gelu"


def test_everything_between_checkpoints_runs_again_before_its_backward_pass() -> None:
    found = graph()
    put = recomputed(found, [0] * len(found.ops), module_outputs(found, KEPT), set())
    check(put.graph)
    assert {"layer0.product", "layer1.product", "layer2.product", "layer3.product"} <= set(again(put.graph))
    assert "layer0.gelu" not in again(put.graph), "its result is kept and nothing else of it is read"
    place = {(put.graph.ops.source[i], int(put.graph.ops.pass_[i])): i for i in range(len(put.graph.ops))}
    for layer in range(3):
        source = f"layer{layer}.product"
        assert place[source, Pass.RECOMPUTE] < place[source, Pass.BACKWARD]
        assert place[source, Pass.RECOMPUTE] > place["layer3.product", Pass.FORWARD]


def test_what_was_lost_is_no_longer_read_by_the_backward_pass() -> None:
    found = graph()
    kept = module_outputs(found, KEPT)
    put = recomputed(found, [0] * len(found.ops), kept, set()).graph
    made = {
        put.tensors.root(t): put.ops.source[i]
        for i in np.flatnonzero(put.ops.pass_ == Pass.FORWARD)
        for t in put.ops.outputs[i]
    }
    back = [i for i in range(len(put.ops)) if put.ops.pass_[i] in (Pass.BACKWARD, Pass.RECOMPUTE)]
    read = {put.tensors.root(t) for i in back for t in put.ops.inputs[i]}
    assert {made[root] for root in read if root in made} <= {"layer0.gelu", "layer1.gelu", "layer2.gelu"}


def test_operators_that_are_exempt_are_not_run_again() -> None:
    found = graph()
    last = {i for i in range(len(found.ops)) if found.ops.source[i].startswith("layer3.")}
    put = recomputed(found, [0] * len(found.ops), module_outputs(found, KEPT), last)
    assert not any(source.startswith("layer3.") for source in again(put.graph))


def test_less_memory_for_more_time() -> None:
    plain, kept = parts(), parts(recompute="checkpoints", checkpoints=list(KEPT))
    assert waiting(kept.graph) < waiting(plain.graph)
    assert kept.step_cycles > plain.step_cycles


def waiting(found: Graph) -> int:
    """Most bytes of activations at any one step."""
    spans, live = lifetimes(found), np.zeros(len(found.ops), dtype=np.int64)
    for root, first, last, category in zip(spans.root, spans.first, spans.last, spans.category, strict=True):
        if category == "activations":
            live[first : last + 1] += found.tensors.bytes[root]
    return int(live.max())


def test_a_product_done_again_has_the_plan_and_the_tiles_of_the_first() -> None:
    found = parts(recompute="checkpoints", checkpoints=list(KEPT)).classes[0]
    ops, chosen = found.graph.ops, found.assignment
    for layer in range(3):
        done = {
            Pass(ops.pass_[i]): (chosen.plans[i], chosen.starts[i])
            for i in range(len(ops))
            if ops.source[i] == f"layer{layer}.product" and ops.pass_[i] in (Pass.FORWARD, Pass.RECOMPUTE)
        }
        assert done[Pass.FORWARD] == done[Pass.RECOMPUTE]


def test_stages_stash_what_enters_them_and_the_last_is_not_run_again() -> None:
    found = laid(splits=["layer2."], accumulation=4, recompute="stages")
    first, last = (planned.part.graph for planned in found.planned)
    assert {"layer0.product", "layer1.product"} <= set(again(first))
    assert again(last) == []


def test_a_stage_alone_has_nothing_to_gain() -> None:
    assert again(laid(recompute="stages").planned[0].part.graph) == []


def test_keys_are_shared_not_copied() -> None:
    found = graph()
    put = recomputed(found, [0] * len(found.ops), set(), set()).graph
    given = [r for r, role in enumerate(put.tensors.role) if role in (Role.INPUT, Role.LABEL)]
    before = [r for r, role in enumerate(found.tensors.role) if role in (Role.INPUT, Role.LABEL)]
    assert len(given) == len(before)
