"""Host transfers by hand: links and memory that are shared, loaders that are too slow, inputs that are ready ahead."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from simulator import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Graph, Kind, Role, check
from simulator.laying import Laid, lay
from simulator.machines.constants import NOMINAL
from simulator.machines.ipu import ipu
from simulator.parallel.feeding import as_bytes, picture_pixels, pixels_of
from simulator.parallel.replicas import Parallel, lay_out
from simulator.pipeline import graph_of
from simulator.schedule.host import (
    host_bytes,
    host_transfer,
    interpreter,
    optimiser_settings,
    state_transfer,
    supply_seconds,
)
from simulator.schedule.outside import Outside
from tests.simulator.handmade import BATCH, CLASSES, WIDTH, dense_step
from tests.simulator.onnx_models import model, node, value

CHIP = ipu("GC200")
SIZE, PICTURES = 64, 8


def parallel(**settings: Any) -> Parallel:
    return lay_out(RunConfig.from_dict({"system": "pod4", **settings}), BATCH)


@lru_cache(maxsize=1)
def pictures() -> Graph:
    weights = {"w": np.ones((4, 3, 3, 3), np.float32)}
    nodes = [node("Conv", ["x", "w"], ["c"], name="conv"), node("GlobalAveragePool", ["c"], ["y"], name="pool")]
    shape: list[int | str | None] = ["N", 3, SIZE, SIZE]
    data = model(nodes, [value("x", shape)], [value("y", ["N", 4, 1, 1])], weights=weights)
    config = RunConfig(task="infer", batch=PICTURES, precision="fp16")
    return graph_of(load(data, name="pictures", batch=PICTURES), config)


def fed(**settings: Any) -> Laid:
    config = RunConfig.from_dict(
        {"task": "infer", "batch": PICTURES, "precision": "fp16", "system": "pod4", **settings}
    )
    return lay(pictures(), config)


def test_only_inputs_and_outputs_meet_the_host() -> None:
    assert host_bytes(dense_step()) == (4 * BATCH * WIDTH, 4 * BATCH * CLASSES)


@pytest.mark.parametrize(("ahead", "rate"), [(1, 38.4e9), (0, 25e9)])
def test_the_ipus_of_a_machine_share_memory_and_link(ahead: int, rate: float) -> None:
    for ipus in (1, 4):
        found = host_transfer("in", 10**6, parallel(ipus=ipus, prefetch_depth=ahead), CHIP)
        assert found.transfer == pytest.approx((ipus * 1e6 / rate + 20e-6) * CHIP.clock_hz, abs=1)


def test_iterations_on_the_device_share_one_call_of_the_host() -> None:
    once, often = (host_transfer("in", 0, parallel(device_iterations=n), CHIP) for n in (1, 10))
    assert often.transfer == pytest.approx(once.transfer / 10, abs=1)


def test_a_slower_framework_calls_longer() -> None:
    calls = [host_transfer("in", 0, parallel(framework=name), CHIP).transfer for name in ("podium", "pytorch")]
    assert calls[1] - calls[0] == pytest.approx(40e-6 * CHIP.clock_hz, abs=1)


def test_pictures_as_bytes_are_cast_on_the_device() -> None:
    plain, found = pictures(), as_bytes(pictures())
    check(found)
    pixels = PICTURES * 3 * SIZE * SIZE
    assert host_bytes(plain)[0] == 2 * pixels
    assert host_bytes(found)[0] == pixels
    assert (found.ops.primitive[0], found.ops.kind[0]) == ("from_bytes", Kind.ELEMENTWISE)
    assert found.tensors.role[found.ops.outputs[0][0]] == Role.ACTIVATION
    assert as_bytes(dense_step()) is not None


def test_rows_of_numbers_stay_as_they_are() -> None:
    plain = dense_step()
    assert as_bytes(plain) is plain
    assert picture_pixels(plain, floats=True) == picture_pixels(plain, floats=False) == 0
    assert picture_pixels(pictures(), floats=True) == PICTURES * SIZE * SIZE
    assert picture_pixels(pictures(), floats=False) == 0
    assert picture_pixels(as_bytes(pictures()), floats=False) == PICTURES * SIZE * SIZE


def test_inputs_in_bytes_and_on_the_device_cost_less_to_bring() -> None:
    times = [
        fed(host_input=form, loader_workers=4096).priced(NOMINAL).host[0].transfer
        for form in ("model", "bytes", "device")
    ]
    assert times == sorted(times, reverse=True)
    assert len(set(times)) == 3


def test_supply_is_bound_by_the_slowest_of_loaders_and_links() -> None:
    laid = fed(loader_workers=2, hosts=1)
    pixels = PICTURES * SIZE * SIZE * 4
    assert supply_seconds(laid.traffic, laid.parallel, CHIP) == pytest.approx(pixels / (7.5e6 * 2))
    as_bytes_too = fed(loader_workers=2, hosts=1, host_input="bytes")
    assert supply_seconds(as_bytes_too.traffic, laid.parallel, CHIP) == pytest.approx(pixels / (1.8e7 * 2))
    many = replace(laid.parallel, feed=replace(laid.parallel.feed, workers=128, hosts=1000))
    ready = replace(laid.parallel, feed=replace(laid.parallel.feed, workers=0))
    assert supply_seconds(laid.traffic, many, CHIP) == supply_seconds(laid.traffic, ready, CHIP)
    assert supply_seconds(laid.traffic, many, CHIP) == pytest.approx(4 * PICTURES * 3 * SIZE * SIZE * 2 / 25e9)
    assert supply_seconds(laid.traffic, replace(many, feed=replace(many.feed, on_device=True)), CHIP) == 0


def test_processes_without_a_core_of_their_own_prepare_nothing_more() -> None:
    pixels = PICTURES * SIZE * SIZE * 4
    for workers, cores in ((100, 100), (128, 128), (1000, 128)):
        laid = fed(loader_workers=workers, hosts=1)
        assert supply_seconds(laid.traffic, laid.parallel, CHIP) == pytest.approx(pixels / (7.5e6 * cores))


def test_every_crop_of_a_sample_is_a_picture() -> None:
    for shape in ((2, 10, 3, 96, 96), (2, 10, 96, 96, 3)):
        assert pixels_of(shape) == 2 * 10 * 96 * 96
    assert pixels_of((20, 3, 96, 96)) == pixels_of((20, 96, 96, 3)) == 20 * 96 * 96
    for shape in ((2, 12, 197, 197), (3, 96, 96), (1, 2, 10, 3, 96, 96), (8, 128)):
        assert pixels_of(shape) == 0


def test_the_ipus_wait_for_loaders_that_are_too_slow() -> None:
    slow = fed(loader_workers=1).priced(NOMINAL)
    quick = fed(loader_workers=128, hosts=4096 // 128).priced(NOMINAL)
    assert [event.name for event in slow.host][-1] == "waiting for the host"
    assert len(quick.host) == 2
    pixels = PICTURES * SIZE * SIZE * 4
    assert slow.total == pytest.approx(pixels / 7.5e6 * CHIP.clock_hz, abs=1), "the loaders set the pace"
    assert quick.total < slow.total


def test_more_hosts_prepare_more() -> None:
    totals = [fed(loader_workers=1, hosts=n).priced(NOMINAL).total for n in (1, 2)]
    assert totals[0] == pytest.approx(2 * totals[1], abs=2)


def test_without_prefetching_the_ipus_wait_for_all_of_it() -> None:
    ahead, not_ahead = (fed(loader_workers=128, hosts=4, prefetch_depth=n).priced(NOMINAL).total for n in (1, 0))
    supply = PICTURES * SIZE * SIZE * 4 / (7.5e6 * 128 * 4) * CHIP.clock_hz
    assert not_ahead - ahead > 0.5 * supply


def test_optimiser_state_goes_both_ways_through_shared_memory_modules() -> None:
    found = state_transfer(10**6, 3, parallel(ipus=4), CHIP)
    assert found.transfer == pytest.approx((2 * 4e6 / 38.4e9 + 6 * 10e-6) * CHIP.clock_hz, abs=1)
    assert found.bytes == 2 * 10**6


COLLATING = {"machine": {"host.sample": 3e-6}}


def collated(**settings: Any) -> Outside | None:
    laid = parallel(ipus=4, **settings)
    return interpreter(laid, laid.system.variant(settings.get("machine", {})))


def test_samples_that_the_main_process_collates_hold_the_ipus_up() -> None:
    handed = collated(**COLLATING)
    assert handed is not None
    assert handed.transfer == pytest.approx(3e-6 * parallel(ipus=4).samples * CHIP.clock_hz, abs=1)


@pytest.mark.parametrize("settings", [{}, {**COLLATING, "host_input": "device"}, {**COLLATING, "task": "infer"}])
def test_nothing_is_handed_over_where_loaders_do_it_or_without_data_to_train_on(settings: dict[str, Any]) -> None:
    assert collated(**settings) is None


def test_the_host_writes_the_settings_of_each_weight_where_the_framework_has_it_do_so() -> None:
    slow = parallel(ipus=4, framework="popart", device_iterations=2)
    written = optimiser_settings(40, slow, CHIP)
    twice = optimiser_settings(40, slow, CHIP, replace(NOMINAL, optimiser_host=2.0))
    assert written is not None
    assert twice is not None
    assert written.transfer == pytest.approx(40 * 3e-4 / 2 * CHIP.clock_hz, abs=1)
    assert twice.transfer == pytest.approx(2 * written.transfer, abs=1)
    assert optimiser_settings(40, parallel(ipus=4, framework="tensorflow"), CHIP) is None
