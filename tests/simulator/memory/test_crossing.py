"""Room for what crosses between IPUs: sums over replicas, shared products, and tensors that are only passed on."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Graph, Pass
from simulator.laying import Laid, lay
from simulator.machines.ipu import Ipu
from simulator.memory.crossing import joining_bytes, summing_bytes
from simulator.memory.lifetimes import Held
from simulator.memory.of_ipu import memory_of
from simulator.memory.stash import held
from simulator.memory.tilemap import MemoryMap, memory_map
from simulator.pipeline import graph_of, simulate_program
from simulator.planner.assign import Assignment
from tests.simulator.layers import WIDTH, config_of, laid
from tests.simulator.onnx_models import model, node, value

GRADIENT = WIDTH * WIDTH * 2


def summed(found: Laid) -> int:
    return summing_bytes(found.planned[0].part.graph, found.parallel, found.ipu)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"ipus": 1}, 0),  # nothing to sum over
        ({"ipus": 2}, GRADIENT),  # a half to send and a half to receive
        ({"ipus": 4}, 2 * 2 * GRADIENT // 4),  # quarters, a pair each way round: they meet in the middle
        ({"ipus": 4, "task": "infer"}, 0),
    ],
)
def test_the_largest_gradient_is_summed_in_fragments(settings: dict[str, object], expected: int) -> None:
    assert summed(laid(**settings)) == expected


def test_what_is_sharded_is_also_copied_into_the_order_of_its_shards() -> None:
    whole, shards = laid(ipus=4), laid(ipus=4, shard_optimiser=True)
    assert summed(shards) - summed(whole) == GRADIENT


def test_sums_over_replicas_need_their_room_before_the_update_only() -> None:
    found = laid(ipus=2)
    each = found.planned[0]
    passes = each.part.graph.ops.pass_
    first = int(np.flatnonzero(passes == Pass.UPDATE)[0])
    amount = 100 * found.ipu.tiles * found.ipu.mapping_minimum_bytes
    before = memory_map(each.part.graph, each.assignment, found.ipu)
    after = memory_map(each.part.graph, each.assignment, found.ipu, Held(summing=amount))
    changed = np.flatnonzero(after.not_always_live != before.not_always_live)
    assert changed.tolist() == [first] == [after.worst_step]
    assert int(after.by_tile["temporaries"].sum()) == amount
    assert after.always_live == before.always_live


class Asked:
    """Counts memory maps, and remembers what was kept in each."""

    def __init__(self) -> None:
        self.kept: list[Held] = []

    def __call__(self, graph: Graph, assignment: Assignment, ipu: Ipu, kept: Held) -> MemoryMap:
        self.kept.append(kept)
        return memory_map(graph, assignment, ipu, kept)


@pytest.mark.parametrize("room", [True, False])
def test_a_map_is_made_again_only_where_sums_are_the_fullest_time(room: bool) -> None:
    found, config, asked = laid(ipus=2), config_of(optimiser="adam", ipus=2), Asked()
    each = found.planned[0]

    def mapped(graph: Graph, assignment: Assignment, ipu: Ipu, kept: Held) -> MemoryMap:
        made = asked(graph, assignment, ipu, kept)
        return replace(made, before_update=0 if room else int(made.tile_bytes.max()))

    memory_of(each.part, each.assignment, found.parallel, config, found.ipu, mapped)
    assert [kept.summing for kept in asked.kept] == ([0] if room else [0, GRADIENT])


SKIPPING = config_of(task="infer", splits=["b.", "c.", "d."], device_iterations=8)


def skipping_model() -> bytes:
    """Four stages; what the first makes is read by the second and again by the last."""
    names = ["a", "b", "c", "d"]
    weights = {f"w{n}": np.ones((WIDTH, WIDTH), dtype=np.float32) for n in names}
    nodes, at = [], "x"
    for name in names:
        nodes.append(node("MatMul", [at, f"w{name}"], [name], name=f"{name}.product"))
        at = name
    nodes.append(node("Add", ["d", "a"], ["scores"], name="e.add"))
    return model(nodes, [value("x", ["N", WIDTH])], [value("scores", ["N", WIDTH])], weights=weights)


def test_what_passes_through_an_ipu_lies_there_meanwhile() -> None:
    found = lay(graph_of(load(skipping_model(), name="skipping", batch=32), SKIPPING), SKIPPING)
    made = 32 * WIDTH * 2
    assert [each.part.passing for each in found.planned] == [0, 0, made, 0], "b reads it; c only passes it on"
    third = found.planned[2]
    memory = memory_of(third.part, third.assignment, found.parallel, SKIPPING, found.ipu)
    assert int(memory.by_tile["stash"].sum()) == made == memory.passing


def test_a_report_counts_what_passes_through() -> None:
    data = skipping_model()
    report = simulate_program(load(data, name="skipping", batch=32), SKIPPING)
    assert all(check["ok"] for check in report["checks"])
    assert report["memory"]["ipus"][2]["totals"]["stash"] == 32 * WIDTH * 2


def test_shared_products_are_summed_in_fragments_too() -> None:
    found = laid(tensor_parallel=2)
    each = found.planned[0]
    config = config_of(optimiser="adam", tensor_parallel=2)
    assert held(each.part, found.parallel, config).width == 2
    joined = max(int(attributes.get("joined", 0)) for attributes in each.part.graph.ops.attributes)
    assert joined > 0
    assert joining_bytes(joined, 2) == joined
    assert joining_bytes(joined, 1) == joining_bytes(0, 2) == 0
