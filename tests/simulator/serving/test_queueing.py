"""Requests by hand: batching, patience, pipelines, what is in flight; and queueing theory for many of them."""

import numpy as np
import pytest

from simulator.serving.queueing import Served, serve
from simulator.serving.scenarios import Load, poisson
from simulator.serving.service import Service
from simulator.serving.statistics import figures, most_at_once, percentile

ONE = Service(batch=1, interval=2.0, latency=2.0)


def test_one_server_serves_in_order() -> None:
    served = serve([0.0, 1.0, 10.0], ONE)
    assert served.entered.tolist() == [0.0, 2.0, 10.0]
    assert served.left.tolist() == [2.0, 4.0, 12.0]
    assert served.latency.tolist() == [2.0, 3.0, 2.0]


def test_whoever_waits_is_batched_when_the_pipeline_is_free() -> None:
    served = serve([0.0, 0.5, 1.0, 1.5, 1.9], Service(batch=3, interval=2.0, latency=2.0))
    assert served.size.tolist() == [1, 3, 1]
    assert served.batch_entered.tolist() == [0.0, 2.0, 4.0]


def test_a_patient_batch_waits_for_more_but_not_once_it_is_full() -> None:
    service = Service(batch=3, interval=2.0, latency=2.0)
    assert serve([0.0, 0.5, 5.0], service, patience=1.0).batch_entered.tolist() == [1.0, 6.0]
    assert serve([0.0, 0.5, 0.7, 5.0], service, patience=1.0).batch_entered.tolist() == [0.7, 6.0]


def test_a_pipeline_holds_several_batches_and_gives_one_an_interval() -> None:
    deep = Service(batch=1, interval=1.0, latency=3.0, depth=3)
    assert serve(np.zeros(5), deep).left.tolist() == [3.0, 4.0, 5.0, 6.0, 7.0]
    shallow = Service(batch=1, interval=1.0, latency=3.0, depth=1)
    assert serve(np.zeros(3), shallow).left.tolist() == [3.0, 6.0, 9.0]
    assert deep.peak == 1.0
    assert shallow.peak == pytest.approx(1 / 3)


def test_latency_of_a_full_queue_is_depth_by_batch_over_throughput() -> None:
    service = Service(batch=4, interval=0.5, latency=0.5, depth=5)
    served = serve(np.zeros(400), service)
    steady = served.batch_left[10:-10] - served.batch_entered[10:-10]
    assert steady == pytest.approx(np.full(len(steady), 5 * 4 / service.peak))


def test_replicas_share_the_requests() -> None:
    served = serve(np.zeros(4), Service(batch=1, interval=2.0, latency=2.0, replicas=2))
    assert served.left.tolist() == [2.0, 2.0, 4.0, 4.0]


@pytest.mark.parametrize("load", [0.3, 0.7, 0.9])
def test_the_mean_wait_of_random_arrivals_is_that_of_an_m_d_1_queue(load: float) -> None:
    arrivals = poisson(Load("server", queries=150_000, qps=load, seed=3))
    served = serve(arrivals, Service(batch=1, interval=1.0, latency=1.0))
    wanted = load / (2 * (1 - load))  # Pollaczek-Khinchine, service time 1
    assert (served.entered - served.arrived).mean() == pytest.approx(wanted, rel=0.06)
    found = figures(served, 1)
    assert found.queue_mean == pytest.approx(load * wanted, rel=0.07), "Little's law"
    assert found.in_flight_mean == pytest.approx(load, rel=0.01)


def test_percentiles_are_values_that_occurred() -> None:
    values = np.array([5.0, 1.0, 4.0, 2.0, 3.0])
    assert [percentile(values, p) for p in (20, 21, 50, 99, 100)] == [1.0, 2.0, 3.0, 5.0, 5.0]


def test_a_queue_and_its_figures_by_hand() -> None:
    served = Served(
        arrived=np.array([0.0, 1.0, 2.0]),
        entered=np.array([0.0, 4.0, 4.0]),
        left=np.array([4.0, 8.0, 8.0]),
        batch_entered=np.array([0.0, 4.0]),
        batch_left=np.array([4.0, 8.0]),
        size=np.array([1, 2]),
    )
    found = figures(served, batch=2)
    assert (found.seconds, found.throughput) == (8.0, 3 / 8)
    assert (found.queue_mean, found.queue_most) == ((3 + 2) / 8, 2)
    assert (found.in_flight_mean, found.in_flight_most) == (1.0, 1)
    assert found.fill == 0.75
    assert found.latency == {"p50": 6.0, "p90": 7.0, "p99": 7.0, "mean": 17 / 3, "max": 7.0}


def test_what_begins_when_another_ends_does_not_overlap_it() -> None:
    assert most_at_once(np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 1.0])) == 1
    assert most_at_once(np.array([0.0]), np.array([0.0])) == 0
