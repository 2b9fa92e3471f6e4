"""Plans of matrix products and convolutions: exact, within limits, cheaper for less work, sensitive to every option."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from simulator.graph.graph import Kind
from simulator.machines.ipu import ipu
from simulator.planner.contraction import Contraction, contraction, folded, joined, restatements, swapped
from simulator.planner.grid import plan_contraction
from simulator.planner.plan import Part, Plan
from simulator.planner.search import choose, copied_elements, operand_elements, useful_splits
from simulator.planner.vertices import slic_cycles

CHIP = ipu("GC200")


def matmul(batch: int, m: int, k: int, n: int, *, half: bool = True, half_partials: bool = True) -> Contraction:
    attributes = {"batch": batch, "m": m, "k": k, "n": n}
    return contraction(Kind.MATMUL, attributes, half=half, half_partials=half_partials, resident=(False, True))


def conv(batch: int, ins: int, outs: int, field: int, kernel: int, **more: int) -> Contraction:
    stride, spread, groups = more.get("stride", 1), more.get("spread", 1), more.get("groups", 1)
    attributes = {
        "batch": batch, "groups": groups, "in_channels": ins, "out_channels": outs,
        "field_in": (field, field), "field_out": (field * spread // stride,) * 2, "kernel": (kernel, kernel),
        "stride": (stride, stride), "dilation": (1, 1), "input_dilation": (spread, spread),
    }  # fmt: skip
    return contraction(Kind.CONV, attributes, half=True, half_partials=True, resident=(False, True))


SHAPES = [
    matmul(1, 1024, 1024, 1024),
    matmul(1, 1000, 777, 1001, half=False),
    matmul(1, 1, 4096, 4096),
    matmul(192, 197, 64, 197, half_partials=False),
    matmul(1, 7, 3, 10),
    matmul(1, 1, 1, 1),
    conv(4, 3, 64, 224, 7, stride=2),
    conv(4, 64, 64, 56, 3),
    conv(4, 256, 512, 56, 1, stride=2),
    conv(4, 128, 128, 28, 3, spread=2),
    conv(4, 1, 1, 56, 3, groups=144),
    conv(4, 4, 4, 56, 3, groups=32),
]


def plan(problem: Contraction, proportion: float = 0.6) -> Plan:
    return plan_contraction(problem, CHIP, proportion)


@pytest.mark.parametrize("problem", SHAPES, ids=str)
def test_every_plan_accounts_for_every_element_and_byte(problem: Contraction) -> None:
    found = plan(problem)
    assert found.received == found.delivered
    assert 0 <= found.sent <= found.received
    assert int(found.outputs.sum()) == problem.outputs + problem.zero_filled
    assert min(int(c.min()) for c in (found.compute, found.exchange, found.temporary, found.outputs)) >= 0
    assert found.tiles_used <= CHIP.tiles
    assert found.flops == 2 * problem.macs


@pytest.mark.parametrize("problem", SHAPES, ids=str)
def test_no_plan_beats_the_peak_of_the_matrix_unit(problem: Contraction) -> None:
    rate = 16 if not problem.half else 64 if problem.half_partials else 32
    # joined groups and folded kernels pad, so only real work counts
    assert plan(problem).cycles * CHIP.tiles * rate >= problem.macs


@pytest.mark.parametrize("problem", SHAPES, ids=str)
def test_time_of_a_step_is_its_slowest_tile(problem: Contraction) -> None:
    found = plan(problem)
    assert sum(s.compute * s.times for s in found.supersteps) >= int(found.compute.max())
    assert sum(s.exchange * s.times for s in found.supersteps) >= int(found.exchange.max())


@pytest.mark.parametrize("problem", [matmul(1, 4096, 4096, 4096), conv(20, 512, 512, 28, 3)], ids=["matmul", "conv"])
@pytest.mark.parametrize("proportion", [0.6, 0.3, 0.15])
def test_temporary_memory_stays_within_the_proportion(problem: Contraction, proportion: float) -> None:
    found = plan(problem, proportion)
    assert int(found.temporary.max()) <= proportion * CHIP.bytes_per_tile


def test_what_lies_in_place_needs_no_room_of_its_own() -> None:
    base = matmul(1, 512, 512, 512)
    placed, fetched = plan(base), plan(replace(base, resident=(False, False)))
    assert placed.splits == fetched.splits
    owned = placed.operands[1]
    assert owned is not None
    assert int(owned.sum()) == 512 * 512 * 2
    assert (fetched.temporary - placed.temporary == owned).all()


def test_less_memory_costs_time() -> None:
    problem = matmul(1, 4096, 4096, 4096)
    roomy, tight = plan(problem, 0.6), plan(problem, 0.1)
    assert tight.cycles > roomy.cycles
    assert dict(tight.splits)["serial"] > dict(roomy.splits)["serial"]


def test_a_bound_that_nothing_keeps_is_doubled_until_something_does() -> None:
    problem = matmul(1, 4096, 4096, 4096)
    needed = int(plan(problem, 0.001).temporary.max())
    bound = int(0.001 * CHIP.bytes_per_tile)
    while bound < needed:
        bound *= 2
    assert plan(problem, 0.001).splits == plan(problem, bound / CHIP.bytes_per_tile).splits
    assert needed < int(plan(problem, 0.6).temporary.max())


def test_serial_steps_slice_their_weights_and_write_their_outputs() -> None:
    found = plan(matmul(1, 4096, 4096, 4096), 0.1)
    serial = dict(found.splits)["serial"]
    assert serial > 1
    counts = {step.name: step.times for step in found.supersteps}
    assert (counts["slice"], counts["write"]) == (serial, serial)
    assert "slice" not in {step.name for step in plan(matmul(1, 512, 512, 512)).supersteps}


@pytest.mark.parametrize("dimension", ["groups", "rows", "ins", "outs"])
def test_cost_rises_with_each_dimension(dimension: str) -> None:
    base = matmul(2, 384, 384, 384)
    costs = []
    for factor in (1, 2, 4, 8):
        changes = {dimension: getattr(base, dimension) * factor}
        if dimension == "rows":
            changes["in_rows"] = changes["rows"]
        costs.append(plan(replace(base, **changes)).cycles)
    assert costs == sorted(costs)
    assert costs[-1] > 2 * costs[0]


@pytest.mark.parametrize("shape", [(1, 1024, 1024, 1024), (1, 512, 2048, 256), (64, 128, 64, 128)])
def test_two_halves_cost_no_less_than_the_whole(shape: tuple[int, int, int, int]) -> None:
    batch, m, k, n = shape
    whole = plan(matmul(batch, m, k, n)).cycles
    for halves in (matmul(batch, m // 2, k, n), matmul(batch, m, k // 2, n), matmul(batch, m, k, n // 2)):
        assert 2 * plan(halves).cycles >= whole


def test_padding_to_the_grain_is_paid_for() -> None:
    # 17 channels take two grains of sixteen, so as much as 32 do in arithmetic
    odd, even = plan(matmul(1, 4096, 17, 512)), plan(matmul(1, 4096, 32, 512))
    work = [max(s.compute for s in found.supersteps if s.part == Part.MATRIX) for found in (odd, even)]
    assert work[0] >= 0.9 * work[1]


def test_products_of_8_bit_floats_are_faster_and_move_less() -> None:
    chip = ipu("C600")
    attributes = {"batch": 1, "m": 4096, "k": 4096, "n": 4096}
    half, quarter = (
        plan_contraction(
            contraction(Kind.MATMUL, attributes, half=True, half_partials=True, resident=(False, True), quarter=narrow),
            chip, 0.6,
        )
        for narrow in (False, True)
    )  # fmt: skip
    assert quarter.features[Part.MATRIX] < 0.7 * half.features[Part.MATRIX]
    assert quarter.received < half.received
    assert int(quarter.outputs.sum()) == 4096 * 4096


def test_what_lies_the_wrong_way_is_moved_and_put_in_order_first() -> None:
    base = replace(matmul(1, 1024, 1024, 1024), resident=(False, False))
    relaid = plan(replace(base, relaid=(True, True)))
    first = relaid.supersteps[0]
    # 2 x 1,048,576 elements over 1,472 tiles are 1,428 a tile at most, five cycles for every four
    assert (first.name, first.part, first.compute) == ("relay operands", Part.COPY, 1428 * 5 // 4)
    assert relaid.cycles == plan(base).cycles + first.total
    assert plan(replace(base, relaid=(True, False))).supersteps[0].compute == 716 * 5 // 4
    assert relaid.received == relaid.delivered


def test_channels_that_do_not_fill_grains_are_padded_by_a_copy() -> None:
    # the 197 tokens of a vision transformer: 394 bytes are no whole grains of 8
    odd, even = (plan(replace(matmul(204, 197, k, 64), resident=(False, False))) for k in (197, 200))
    assert odd.supersteps[0].name == "relay operands"
    assert even.supersteps[0].name == "gather operands"
    assert odd.cycles > even.cycles


def test_what_the_plan_places_itself_lies_right() -> None:
    attributes = {"batch": 1, "m": 64, "k": 64, "n": 64, "relaid": (True, True)}
    problem = contraction(Kind.MATMUL, attributes, half=True, half_partials=True, resident=(False, True))
    assert problem.relaid == (True, False)


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_narrow_groups_run_on_windows_of_four(channels: int) -> None:
    problem = conv(4, channels, channels, 56, 3, groups=128 // channels)
    found = plan(problem)
    assert found.method == "slic"
    wide = plan(conv(4, 128, 128, 56, 3))
    assert found.cycles < wide.cycles


def test_a_window_of_four_takes_two_passes_of_one_cycle_a_position() -> None:
    # one block of four channels, 3 x 3 taps: three windows of 34 to load and 2 x 6 x (19 + 4 x (25 + 51))
    cycles = slic_cycles(np.array([1]), np.array([24]), 56, 4, 3, 3, 1, CHIP)
    assert cycles.tolist() == [100 + 3 * (34 + 2 * 6 * (19 + 4 * (25 + 51)))]
    strided = slic_cycles(np.array([1]), np.array([24]), 56, 4, 3, 3, 2, CHIP)
    assert strided.tolist() == [100 + 3 * (34 + 2 * 6 * (19 + 4 * (25 + 2 * 53)))]


@pytest.mark.parametrize(
    ("change", "slower"),
    [({"half_partials": False}, True), ({"half": False, "half_partials": False}, True)],
    ids=["single partials", "single precision"],
)
def test_precision_changes_time(change: dict[str, bool], slower: bool) -> None:
    base = matmul(1, 2048, 2048, 2048)
    assert (plan(replace(base, **change)).cycles > plan(base).cycles) is slower


def test_resident_weights_save_exchange() -> None:
    base = matmul(1, 64, 4096, 4096)
    away = replace(base, resident=(False, False))
    assert plan(base).received < plan(away).received
    operands = plan(base).operands
    assert operands[1] is not None
    assert int(operands[1].sum()) == 4096 * 4096 * 2
    assert plan(away).operands == (None, None)


def test_ragged_shapes_give_tiles_that_differ() -> None:
    found = plan(matmul(1, 1000, 777, 1001, half=False))
    assert len(np.unique(found.compute[found.compute > 0])) > 1
    assert len(np.unique(found.temporary[found.temporary > 0])) > 1


def test_restatements_do_the_same_work() -> None:
    base = conv(4, 16, 32, 28, 3)
    for other in restatements(base):
        assert other.macs == base.macs
        assert other.groups * other.batch * other.rows * other.width * other.outs == base.outputs
    assert swapped(folded(base, (True, True))).transforms == ("fold kernel", "swap operands")


def test_a_kernel_unfolds_along_any_of_its_dimensions() -> None:
    base = replace(conv(4, 16, 32, 28, 3), taps=15, row_taps=3)  # three rows of five
    found = {each.transforms[-1]: each for each in restatements(base) if each.transforms[-1:] and each.fold > 1}
    sizes = {name: (each.ins, each.taps) for name, each in found.items()}
    assert sizes == {
        "fold kernel": (240, 1), "fold rows of kernel": (48, 5), "fold columns of kernel": (80, 3),
    }  # fmt: skip
    rows = np.array([7])
    copies = {name: int(copied_elements(each, Tile(rows, each.ins))[0]) for name, each in found.items()}
    read = 7 + base.row_halo  # rows of the input
    assert copies["fold kernel"] == 7 * base.width * 240
    assert copies["fold rows of kernel"] == 7 * base.in_width * 48
    assert copies["fold columns of kernel"] == read * base.width * 80


def test_what_was_rearranged_is_gone_when_the_product_is_made() -> None:
    base = conv(4, 16, 32, 28, 3)
    every = folded(base, (True, True))
    one = Tile(np.array([7]), every.ins)
    read, weights = np.array([1000]), np.array([50])
    arrived, used = operand_elements(every, one, read, weights)
    copied = int(copied_elements(every, one)[0])
    assert (int(arrived[0]), int(used[0])) == (1050 + copied, 50 + copied)
    assert [int(each[0]) for each in operand_elements(base, one, read, weights)] == [1050, 1050]


@dataclass
class Tile:
    """A tile of all groups, one batch item and all output channels of one."""

    rows: np.ndarray
    channels: int

    @property
    def ins(self) -> np.ndarray:
        return np.array([self.channels])

    @property
    def groups(self) -> np.ndarray:
        return np.array([1])

    batch = groups
    outs = groups


def test_narrow_groups_are_joined_to_fill_the_unit() -> None:
    joint = joined(conv(4, 4, 4, 56, 3, groups=32))
    assert (joint.groups, joint.ins, joint.outs) == (8, 16, 16)
    assert joined(conv(4, 64, 64, 56, 3)) == conv(4, 64, 64, 56, 3)


def test_a_single_row_times_a_large_matrix_swaps_operands() -> None:
    assert "swap operands" in choose(matmul(1, 1, 4096, 4096), CHIP, 0.6).problem.transforms


def test_inputs_spread_with_zeros_cost_only_the_useful_taps() -> None:
    spread, dense = conv(4, 128, 128, 28, 3, spread=2), conv(4, 128, 128, 56, 3)
    assert spread.outputs == dense.outputs
    assert spread.macs < dense.macs / 2
    assert plan(spread).cycles < plan(dense).cycles


def test_a_strided_one_by_one_reads_only_what_it_uses() -> None:
    strided = plan(conv(8, 64, 64, 56, 1, stride=2))
    assert strided.received < plan(conv(8, 64, 64, 56, 1)).received


def test_splits_cover_the_range_and_are_few() -> None:
    assert useful_splits(7, 1472).tolist() == [1, 2, 3, 4, 7]
    many = useful_splits(5000, 1472)
    assert many[0] == 1
    assert many[-1] <= 1472
    assert len(many) <= 22


def test_planning_is_deterministic() -> None:
    plan_contraction.cache_clear()
    choose.cache_clear()
    first = plan(SHAPES[0])
    plan_contraction.cache_clear()
    choose.cache_clear()
    again = plan(SHAPES[0])
    assert first is not again
    assert first.splits == again.splits
    assert first.cycles == again.cycles
    assert (first.temporary == again.temporary).all()
