"""Which partitions a job may have, how replicas and stages fill them, and the batch equation."""

import pytest

from simulator import RunConfig, SimulatorError
from simulator.parallel.replicas import Parallel, lay_out


def laid(**settings: object) -> Parallel:
    config = RunConfig.from_dict(settings)
    return lay_out(config, config.batch)


def test_a_replica_for_every_ipu_of_the_slice() -> None:
    found = laid(system="pod128", batch=32)
    assert (found.ipus, found.replicas, found.global_batch) == (128, 128, 128 * 32)
    assert (found.machines, found.link_domains) == (32, 2)
    assert found.to_dict()["partition"] == {"ipus": 128, "machines": 32, "link_domains": 2}


@pytest.mark.parametrize("ipus", [3, 5, 8])
def test_a_partition_that_cannot_be_cut_is_refused_with_those_that_can(ipus: int) -> None:
    with pytest.raises(SimulatorError, match="1, 2, 4") as refused:
        laid(system="pod4", ipus=ipus)
    assert refused.value.code == "system.size"
    assert refused.value.params["allowed"] == [1, 2, 4]


def test_the_batch_equation_of_packed_bert_on_pod16() -> None:
    found = laid(system="pod16", batch=2, stages=5, stage_ipus=[0, 1, 2, 3, 0], accumulation=192, sequences_in_pack=2)
    assert (found.ipus_per_replica, found.replicas, found.stages, found.global_batch) == (4, 4, 5, 3072)
    batch = found.to_dict()["batch"]
    assert batch["equation"] == "2 x 192 x 4 x 2 = 3072"
    assert batch["global_batch"] == 3072


def test_large_batches_are_written_in_full() -> None:
    equation = laid(system="pod256", batch=4096).to_dict()["batch"]["equation"]
    assert equation == "4096 x 1 x 256 = 1048576"
    packed = laid(system="pod4", batch=1, sequences_in_pack=1.17).to_dict()["batch"]["equation"]
    assert packed == "1 x 1 x 4 x 1.17 = 4.68"


def test_iterations_multiply_samples_of_a_host_call_and_not_the_batch() -> None:
    found = laid(system="pod16", batch=4, accumulation=2, device_iterations=8)
    assert found.global_batch == 4 * 2 * 16
    assert found.to_dict()["batch"]["samples_a_host_call"] == 8 * found.global_batch


def test_replicas_alone_say_how_many_ipus() -> None:
    assert laid(system="pod16", replicas=2, stages=4, accumulation=8).ipus == 8


@pytest.mark.parametrize(
    ("settings", "field", "legal"),
    [
        ({"system": "pod16", "stages": 3, "accumulation": 8}, "stages", [1, 2, 4, 8, 16]),
        ({"system": "pod16", "ipus": 4, "stages": 8, "accumulation": 8}, "ipus", [8, 16]),
        ({"system": "pod16", "stages": 4, "accumulation": 3}, "accumulation", [4, 8, 16, 32, 64]),
        ({"system": "pod16", "replicas": 3, "stages": 2, "accumulation": 8}, "replicas", [1, 2, 4, 8]),
        ({"system": "pod16", "ipus": 16, "replicas": 8}, "replicas", [16]),
        ({"system": "pod16", "stages": 3, "stage_ipus": [0, 2, 3], "accumulation": 8}, "stage_ipus", [[0, 1, 2]]),
        ({"task": "infer", "accumulation": 4}, "accumulation", [1]),
        ({"system": "pod16", "tensor_parallel": 3}, "tensor_parallel", [1, 2, 4, 8, 16]),
    ],
)
def test_what_no_machine_could_run_is_refused_with_what_would_do(
    settings: dict[str, object], field: str, legal: list[object]
) -> None:
    with pytest.raises(SimulatorError) as refused:
        laid(**settings)
    assert refused.value.code == "parallel.illegal"
    assert refused.value.params["field"] == field
    assert refused.value.params["legal"] == legal


def test_a_legal_value_named_by_a_refusal_is_accepted() -> None:
    assert laid(system="pod16", stages=4, accumulation=4).replicas == 4
    assert laid(system="pod16", ipus=8, stages=8, accumulation=8).replicas == 1
