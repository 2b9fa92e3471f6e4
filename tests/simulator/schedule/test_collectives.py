"""Rings by hand: bytes, links they share, gateways between domains, methods by size; larger never takes less."""

from dataclasses import replace
from typing import Any

import pytest

from simulator import RunConfig
from simulator.machines.constants import NOMINAL
from simulator.machines.ipu import ipu
from simulator.parallel.replicas import Parallel, lay_out
from simulator.schedule.collectives import (
    Ring,
    all_reduce,
    collective,
    gateway_rate,
    merged,
    one_after_another,
    ring_of,
    steps_of,
)
from simulator.schedule.outside import external_sync

CHIP = ipu("GC200")
MEBIBYTE = 2**20
LINK = 16e9 * 0.85


def slice_of(system: str, **settings: Any) -> Parallel:
    return lay_out(RunConfig.from_dict({"system": system, "accumulation": 64, **settings}), 1)


def test_a_ring_sends_twice_the_bytes_less_one_share() -> None:
    found = all_reduce(100 * MEBIBYTE, slice_of("pod16"), CHIP)
    seconds = 2 * 15 / 16 * 100 * MEBIBYTE / (2 * 2 * LINK)
    assert found.transfer == pytest.approx(seconds * CHIP.clock_hz, abs=2)
    assert found.sync == 30 * 199
    assert found.bytes == 2 * (15 * 100 * MEBIBYTE // 16)


def test_a_pair_has_four_links_and_a_ring_two_each_way() -> None:
    assert ring_of(slice_of("pod4", ipus=2), CHIP).rate == 4 * LINK
    assert ring_of(slice_of("pod16"), CHIP).rate == 4 * LINK


@pytest.mark.parametrize(
    ("system", "stages", "links"),
    [("pod16", 2, 2.0), ("pod16", 4, 1.0), ("pod16", 8, 0.5), ("pod64", 4, 2.0), ("pod64", 8, 1.0)],
)
def test_rings_of_one_replica_share_the_links_of_the_ladder(system: str, stages: int, links: float) -> None:
    found = ring_of(slice_of(system, stages=stages), CHIP)
    assert found.rate == pytest.approx(links * LINK)
    assert found.both_ways == (system == "pod64"), "only the closed ladder has a way back"


def test_half_of_a_pod64_is_not_closed() -> None:
    assert not ring_of(slice_of("pod64", ipus=32, stages=4), CHIP).both_ways


@pytest.mark.parametrize(("width", "rate"), [(1, 25e9), (2, 12.5e9), (4, 6.25e9), (8, 6.25e9)])
def test_rings_share_the_gateways_of_the_machines_of_a_replica(width: int, rate: float) -> None:
    assert gateway_rate(width, CHIP) == rate


def test_beyond_one_domain_every_step_waits_for_the_gateway() -> None:
    found = collective("all-gather", 128 * MEBIBYTE, slice_of("pod128"), CHIP)
    seconds = 127 * MEBIBYTE / 25e9 + 64 * 2e-6
    assert found.transfer == pytest.approx(seconds * CHIP.clock_hz, abs=2)
    assert found.sync == 64 * external_sync(128, CHIP)


@pytest.mark.parametrize(
    ("ranks", "megabytes", "steps"), [(16, 1, 8), (16, 64, 15), (4, 0, 2), (4, 2, 3), (32, 1000, 16), (64, 1000, 32)]
)
def test_small_sums_meet_in_the_middle_and_many_ranks_always(ranks: int, megabytes: int, steps: int) -> None:
    ring = Ring(ranks, 1, LINK, both_ways=True)
    assert steps_of("reduce-scatter", ring, megabytes * MEBIBYTE, CHIP) == steps
    assert steps_of("reduce-scatter", Ring(ranks, 1, LINK, both_ways=False), 0, CHIP) == ranks - 1


def test_only_the_scatter_adds() -> None:
    scatter, gather = (collective(p, 10 * MEBIBYTE, slice_of("pod16"), CHIP) for p in ("reduce-scatter", "all-gather"))
    assert scatter.compute > 0 == gather.compute
    assert scatter.transfer == gather.transfer


def test_all_reduce_grows_with_bytes_and_with_the_slice() -> None:
    sizes = [all_reduce(mega * MEBIBYTE, slice_of("pod16"), CHIP).total for mega in (1, 10, 100)]
    slices = [all_reduce(10 * MEBIBYTE, slice_of("pod256", ipus=n), CHIP).total for n in (2, 4, 16, 64, 128, 256)]
    assert sizes == sorted(sizes)
    assert slices == sorted(slices)


def test_systems_larger_than_any_published_sum_in_two_levels_and_never_faster() -> None:
    known, large, largest = (
        all_reduce(50 * MEBIBYTE, slice_of("pod65536", ipus=ipus), CHIP) for ipus in (256, 1024, 4096)
    )
    assert known.total <= large.total <= largest.total
    flat = 4096 * external_sync(4096, CHIP)
    assert largest.sync < flat, "not one ring of thousands of steps"


def test_only_links_of_a_domain_follow_the_fitted_scale() -> None:
    slower = replace(NOMINAL, link=2.0)
    near, far = slice_of("pod64"), slice_of("pod128")
    times = [all_reduce(MEBIBYTE * 64, near, CHIP, constants=c).transfer for c in (NOMINAL, slower)]
    assert times[1] == pytest.approx(2 * times[0], rel=1e-3)
    assert len({all_reduce(MEBIBYTE * 64, far, CHIP, constants=c).transfer for c in (NOMINAL, slower)}) == 1


def test_gradients_are_summed_at_once_or_in_groups_that_follow_each_other() -> None:
    assert merged([3, 4, 5], CHIP) == [12]
    assert merged([3, 4, 5], ipu("GC200", {"collectives.gradients_of_sum": 1})) == [3, 4, 5]
    assert merged([3, 4, 5], ipu("GC200", {"collectives.gradients_of_sum": 2})) == [7, 5]


def test_sums_one_by_one_send_the_same_and_wait_more_often() -> None:
    parts = [all_reduce(16 * 1024 * size, slice_of("pod16"), CHIP) for size in (1, 2, 5)]
    whole, apart = all_reduce(8 * 16 * 1024, slice_of("pod16"), CHIP), one_after_another(parts)
    assert apart.bytes == whole.bytes
    assert apart.transfer == pytest.approx(whole.transfer, abs=6)  # each phase is rounded up
    assert apart.sync == sum(each.sync for each in parts) > whole.sync
    assert apart.times == sum(each.times for each in parts)
