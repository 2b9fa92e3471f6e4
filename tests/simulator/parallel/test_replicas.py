"""Which partitions a job may have, and what its replicas must sum."""

import pytest

from simulator import RunConfig, SimulatorError
from simulator.parallel.replicas import data_parallel
from tests.simulator.handmade import BATCH, CLASSES, WIDTH, dense_step


def test_a_replica_for_every_ipu_of_the_slice() -> None:
    found = data_parallel(dense_step(), RunConfig(system="pod128", batch=BATCH))
    assert (found.ipus, found.replicas, found.global_batch) == (128, 128, 128 * BATCH)
    assert (found.machines, found.link_domains) == (32, 2)
    assert found.gradient_bytes == 4 * WIDTH * CLASSES
    assert found.to_dict()["partition"] == {"ipus": 128, "machines": 32, "link_domains": 2}


@pytest.mark.parametrize(("training", "ipus"), [(False, 4), (True, 1)])
def test_nothing_is_summed_in_inference_or_on_one_ipu(training: bool, ipus: int) -> None:
    found = data_parallel(dense_step(training=training), RunConfig(system="pod4", ipus=ipus, batch=BATCH))
    assert found.gradient_bytes == 0


@pytest.mark.parametrize("ipus", [3, 5, 8])
def test_a_partition_that_cannot_be_cut_is_refused_with_those_that_can(ipus: int) -> None:
    with pytest.raises(SimulatorError, match="1, 2, 4") as refused:
        data_parallel(dense_step(), RunConfig(system="pod4", ipus=ipus))
    assert refused.value.code == "system.size"
    assert refused.value.params["allowed"] == [1, 2, 4]
