"""Which operator belongs to which stage and IPU, what crosses, and where stages begin when nobody says."""

import numpy as np
import pytest

from simulator import RunConfig, SimulatorError, simulate
from simulator.graph.graph import Pass, Role, check
from simulator.parallel.balance import balanced_splits
from simulator.parallel.stages import EVERYWHERE, staged
from simulator.parallel.subgraphs import cut
from tests.simulator.layers import LAYERS, WIDTH, graph, laid

HIDDEN = 32 * WIDTH * 2  # bytes of what one layer hands to the next


def test_backward_work_runs_with_its_forward_work_and_updates_with_their_weight() -> None:
    found = graph()
    staging = staged(found, ["layer1.", "layer3."])
    assert staging.count == 3
    expected = {"layer0.product": 0, "layer1.gelu": 1, "layer2.product": 1, "layer3.product": 2}
    for source, stage in expected.items():
        mine = {staging.of[i] for i in range(len(found.ops)) if found.ops.source[i] == source}
        assert mine == {stage}, source
    updates = {found.ops.source[i]: staging.of[i] for i in np.flatnonzero(found.ops.pass_ == Pass.UPDATE)}
    assert [updates[f"w{layer}"] for layer in range(LAYERS)] == [0, 1, 1, 2]
    assert updates["update"] == EVERYWHERE


def test_the_loss_is_on_the_last_stage() -> None:
    found = graph()
    staging = staged(found, ["layer2."])
    assert {staging.of[i] for i in range(len(found.ops)) if found.ops.source[i] == "loss"} == {1}


@pytest.mark.parametrize(("splits", "code"), [(["nothing."], "node_unknown"), (["layer2.", "layer1."], "illegal")])
def test_splits_that_cannot_be_are_refused_with_names(splits: list[str], code: str) -> None:
    with pytest.raises(SimulatorError) as refused:
        staged(graph(), splits)
    assert refused.value.code == f"parallel.{code}"
    assert refused.value.params["legal"]


def test_each_ipu_gets_a_graph_of_its_own_that_is_sound() -> None:
    found = graph()
    parts, _ = cut(found, staged(found, ["layer1.", "layer3."]), (0, 1, 2))
    shared = sum(stage == EVERYWHERE for stage in staged(found, ["layer1.", "layer3."]).of)
    assert sum(len(part.graph.ops) for part in parts) == len(found.ops) + 2 * shared
    for part in parts:
        check(part.graph)
    assert [len(part.graph.gradients) for part in parts] == [1, 2, 1]


def test_only_activations_go_up_and_their_gradients_down() -> None:
    found = graph()
    parts, hops = cut(found, staged(found, ["layer1.", "layer3."]), (0, 1, 2))
    told = {(hop.source, hop.target, hop.pass_): hop.bytes for hop in hops}
    assert told == {
        (0, 1, Pass.FORWARD): HIDDEN,
        (1, 2, Pass.FORWARD): HIDDEN,
        (1, 0, Pass.BACKWARD): HIDDEN,
        (2, 1, Pass.BACKWARD): HIDDEN,
    }
    received = [root for root, role in enumerate(parts[1].graph.tensors.role) if role == Role.RECEIVED]
    assert [int(parts[1].graph.tensors.bytes[root]) for root in received] == [HIDDEN, HIDDEN]
    assert len(parts[1].arriving) == 1
    assert len(parts[1].leaving) == 2


def test_stages_may_share_an_ipu() -> None:
    found = laid(splits=["layer1.", "layer2.", "layer3."], stage_ipus=[0, 1, 1, 0], accumulation=4)
    assert [planned.part.stages for planned in found.planned] == [(0, 3), (1, 2)]
    assert found.parallel.replicas == 2
    crossing = {(hop.source, hop.target) for hop in found.hops}
    assert crossing == {(0, 1), (1, 0), (2, 3), (3, 2)}


def test_a_tied_weight_on_one_ipu_does_not_cross() -> None:
    found = laid(tied=True, splits=["layer1.", "layer3."], stage_ipus=[0, 1, 0], accumulation=4)
    assert {hop.bytes for hop in found.hops} == {HIDDEN}


def test_a_tied_weight_on_two_ipus_crosses_once_a_step() -> None:
    found = laid(tied=True, splits=["layer2."], accumulation=4)
    told = {(hop.source, hop.target, hop.pass_): hop.bytes for hop in found.hops}
    weight = 2 * WIDTH * WIDTH
    assert told[0, 1, Pass.UPDATE] == told[1, 0, Pass.UPDATE] == weight
    assert told[0, 1, Pass.FORWARD] == told[1, 0, Pass.BACKWARD] == HIDDEN
    assert found.planned[0].gradient_bytes == 2 * weight, "the far part is added before the sum over replicas"


def test_stages_are_balanced_by_time() -> None:
    found = graph()
    heavy = [1000 if source == "layer0.product" else 1 for source in found.ops.source]
    assert balanced_splits(found, 2, heavy, 0.0) == ("layer0.gelu",)
    even = [1 if source.endswith("product") else 0 for source in found.ops.source]
    assert balanced_splits(found, 2, even, 0.0)[0].startswith(("layer1.gelu", "layer2"))


def test_a_cut_where_less_crosses_is_preferred() -> None:
    found = graph()
    even = [1 if source.endswith("product") else 0 for source in found.ops.source]
    dear = balanced_splits(found, 2, even, 1e-3)
    crossing = {hop.bytes for hop in cut(found, staged(found, dear), (0, 1))[1]}
    assert crossing == {HIDDEN}


def test_more_stages_than_nodes_are_refused() -> None:
    with pytest.raises(SimulatorError, match="nodes of the model"):
        balanced_splits(graph(), 60, [1] * len(graph().ops), 0.0)


def test_weights_that_stages_share_cross_in_training_alone() -> None:
    late = {}
    for task in ("train", "infer"):
        settings = {"task": task, "batch": 2, "dims": {"sequence": 8, "vocab": 64}, "precision": "fp16", "stages": 2}
        report = simulate(
            "zoo:gpt2-small", RunConfig(system="pod4", accumulation=2 if task == "train" else 1, **settings)
        )
        late[task] = [row["name"] for row in report["operators"] if row["name"] == "shared weights"]
    assert late == {"train": ["shared weights"], "infer": []}
