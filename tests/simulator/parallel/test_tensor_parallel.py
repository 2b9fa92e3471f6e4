"""Products shared by the IPUs of a stage: every IPU does its part, and what is summed is counted."""

import numpy as np
import pytest

from simulator.graph.graph import Graph, Kind, Pass, Role, check
from simulator.machines.constants import NOMINAL
from simulator.machines.ipu import ipu
from simulator.parallel.tensor_parallel import shared_products
from simulator.report.checks import checks
from simulator.schedule.collectives import joined_cycles
from simulator.schedule.outside import external_sync
from tests.simulator.layers import WIDTH, graph, laid, parts

HIDDEN = 32 * WIDTH * 2
CHIP = ipu("GC200")


def multiplications(found: Graph) -> int:
    return sum(
        a["batch"] * a["m"] * a["k"] * a["n"]
        for a, kind in zip(found.ops.attributes, found.ops.kind, strict=True)
        if kind == Kind.MATMUL
    )


def owned(found: Graph, role: Role) -> int:
    return int(found.tensors.bytes[(found.tensors.role == role) & (found.tensors.alias_of < 0)].sum())


@pytest.mark.parametrize("width", [2, 4])
def test_each_ipu_does_an_equal_part_of_every_product(width: int) -> None:
    whole, part = graph(), shared_products(graph(), width)
    check(part)
    assert multiplications(part) * width == multiplications(whole)
    assert owned(part, Role.WEIGHT) * width == owned(whole, Role.WEIGHT)
    assert owned(part, Role.OPTIMISER_STATE) * width == owned(whole, Role.OPTIMISER_STATE)
    assert len(part.gradients) == len(whole.gradients)


def test_columns_then_rows_are_joined_once_for_two_layers() -> None:
    part = shared_products(graph(), 2)
    joined = {
        (part.ops.source[i], Pass(part.ops.pass_[i]).name): part.ops.attributes[i]["joined"]
        for i in range(len(part.ops))
        if "joined" in part.ops.attributes[i] and part.ops.kind[i] == Kind.MATMUL
    }
    assert joined == {
        ("layer1.product", "FORWARD"): HIDDEN,
        ("layer3.product", "FORWARD"): HIDDEN,
        ("layer2.product", "BACKWARD"): HIDDEN,
    }, "the first product has no gradient of its input"


def test_one_ipu_shares_with_nobody() -> None:
    whole = graph()
    assert shared_products(whole, 1) is whole


def test_activations_between_a_pair_of_products_are_shares() -> None:
    part = shared_products(graph(), 2)
    written = {part.ops.source[i]: part.tensors.root(part.ops.outputs[i][0]) for i in range(len(part.ops))
               if part.ops.pass_[i] == Pass.FORWARD}  # fmt: skip
    assert int(part.tensors.bytes[written["layer0.product"]]) == HIDDEN // 2
    assert int(part.tensors.bytes[written["layer1.product"]]) == HIDDEN


def test_a_sum_over_ipus_takes_its_ring_and_nothing_takes_nothing() -> None:
    amounts = np.array([0, 2**20])
    rate = 16e9 * 0.85 * 4
    for width, steps in ((2, 2), (4, 6)):
        nothing, some = joined_cycles(amounts, width, CHIP).tolist()
        seconds = steps / width * 2**20 / rate
        assert nothing == 0
        assert some == pytest.approx(seconds * CHIP.clock_hz + steps * external_sync(width, CHIP), abs=1)
    assert joined_cycles(amounts, 1, CHIP).tolist() == [0, 0]


def test_the_laws_hold_and_replicas_are_wider() -> None:
    found = parts(tensor_parallel=2, accumulation=4, splits=["layer2."])
    assert found.parallel.ipus_per_replica == 4
    assert all(check["ok"] for check in checks(found))
    names = {event.name for each in found.classes for event in each.timeline.copies}
    assert names == {"between stages", "joined products"}


def test_sharing_saves_memory_and_the_sums_take_time() -> None:
    alone, shared = (laid(tensor_parallel=width) for width in (1, 2))
    assert owned(shared.planned[0].part.graph, Role.WEIGHT) * 2 == owned(alone.planned[0].part.graph, Role.WEIGHT)
    copies = shared.priced(NOMINAL).copies[0]
    assert [event.name for event in copies] == ["joined products"]
    assert copies[0].total > 0


def test_recomputed_sums_are_taken_again() -> None:
    kept = ["layer0.", "layer2."]
    plain, again = (
        laid(tensor_parallel=2, recompute=recompute, checkpoints=kept).priced(NOMINAL).copies[0][0]
        for recompute in ("none", "checkpoints")
    )
    assert again.times > plain.times
