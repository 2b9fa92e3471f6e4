"""The GPU roofline: counted by hand for one product, and bound by what should bind."""

from dataclasses import replace

import numpy as np
import pytest

from simulator import RunConfig, SimulatorError
from simulator.comparator.beside import beside
from simulator.comparator.gpus import gpu
from simulator.comparator.roofline import LAUNCH_SECONDS, on_gpus, operator_seconds
from simulator.comparator.work import Work, work_of
from simulator.machines.constants import NOMINAL
from simulator.pipeline import graph_of, open_model

A100 = gpu("a100")


def work(flops: float, moved: float, *, matrix: bool = True, half: bool = True, convolution: bool = False) -> Work:
    one = np.ones(1, dtype=bool)
    calls = np.ones(1, dtype=np.int64)
    return Work(
        np.array([flops]), np.array([moved]), one & matrix, one & half, one & convolution, one & False, calls
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (work(312e12, 1e9), 1 / 0.5),  # one second of tensor cores at half their peak
        (work(156e12, 1e9, half=False, convolution=True), 1 / 0.5),
        (work(19.5e12, 1e9, half=False), 1 / 0.5),  # a product in single precision leaves tensor cores alone
        (work(19.5e12, 1e9, matrix=False), 1.0),
        (work(1e6, 2.039e12), 1 / 0.7),  # one second of memory at 70 % of its rate
    ],
)
def test_an_operator_takes_the_longer_of_arithmetic_and_memory(given: Work, seconds: float) -> None:
    assert operator_seconds(given, A100, NOMINAL)[0] == pytest.approx(seconds)


def test_a_training_step_counts_three_products_for_each_weight_and_its_update_once() -> None:
    config = RunConfig(task="train", batch=8, precision="fp16")
    program, _ = open_model("zoo:mnist", config)
    counted = work_of(graph_of(program, config))
    # each product has two of its size in the backward pass; that to the first input is missing, and gradients of
    # convolutions without padding reach over a larger field
    forward = work_of(graph_of(program, replace(config, task="infer")))
    share = float(counted.flops[counted.matrix].sum() / forward.flops[forward.matrix].sum())
    assert 2.5 < share < 3.4
    assert counted.update.any()
    assert not counted.matrix[counted.update].any()


def test_small_models_are_bound_by_launches_and_more_gpus_give_more_samples() -> None:
    config = RunConfig(task="train", batch=8, precision="fp16")
    program, _ = open_model("zoo:mnist", config)
    graph = graph_of(program, config)
    one = on_gpus(graph, A100, gpus=1, samples=8, constants=NOMINAL)
    eight = on_gpus(graph, A100, gpus=8, samples=64, constants=NOMINAL)
    assert one.bound_by == "launch"
    assert one.step_seconds == pytest.approx(len(graph.ops) * LAUNCH_SECONDS, rel=0.2)
    assert one.samples_per_second < eight.samples_per_second < 8 * one.samples_per_second
    told = eight.to_dict()
    assert told["joules_per_million_samples"] == pytest.approx(6500 * 1e6 / eight.samples_per_second)
    assert "roofline" in told["basis"]


@pytest.mark.parametrize("name", ["gpu_matrix", "gpu_memory", "gpu_launch"])
def test_each_constant_of_the_comparator_changes_something(name: str) -> None:
    config = RunConfig(task="infer", batch=256, precision="fp16")
    program, _ = open_model("zoo:resnet50", config)
    graph = graph_of(program, config)

    def seconds(value: float) -> tuple[float, float]:
        found = on_gpus(graph, A100, gpus=1, samples=256, constants=replace(NOMINAL, **{name: value}))
        return found.device_seconds, found.launched_seconds

    assert seconds(0.4) != seconds(0.8)


def test_an_unknown_gpu_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(SimulatorError, match="a100"):
        gpu("tpu")


def test_a_server_does_a_step_of_as_many_samples_with_one_update() -> None:
    config = RunConfig(task="train", batch=8, precision="fp16")
    program, _ = open_model("zoo:mnist", config)
    graph = graph_of(program, config)
    found = beside(graph, samples=512, sequences_in_pack=1.0, constants=NOMINAL)
    assert (found.gpus, found.samples) == (8, 512)
    once = beside(graph, samples=64, sequences_in_pack=1.0, constants=NOMINAL)
    assert once.step_seconds < found.step_seconds < 8 * once.step_seconds


def test_nodes_that_are_left_out_do_not_count() -> None:
    config = RunConfig(
        task="infer", batch=1, precision="fp32", dims={"inputs": 64, "features": 16, "outputs": 128, "repeats": 1}
    )
    program, _ = open_model("zoo:gather", config)
    graph = graph_of(program, config)
    whole, without = work_of(graph), work_of(graph, frozenset({"sum_up"}))
    assert len(without.calls) == len(whole.calls) - 1 == 1
    # 128 rows of 16 single-precision elements read with an index each, and written
    assert without.bytes.tolist() == [128 * 16 * (4 + 8 + 4)]


def test_sums_into_a_table_clear_all_of_it_and_touch_only_the_rows_that_are_added_to() -> None:
    config = RunConfig(
        task="infer", batch=1, precision="fp32", dims={"inputs": 64, "features": 8, "outputs": 1024, "repeats": 1}
    )
    program, _ = open_model("zoo:scatter-add", config)
    counted = work_of(graph_of(program, config), {"sum_up"})
    rows, table = 64 * 8 * 4, 1024 * 8 * 4
    assert float(counted.bytes.max()) == rows + 64 * 8 + table + 2 * rows
