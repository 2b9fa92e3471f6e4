"""The ticker's part: jobs go to free slots of live workers, on slices that are theirs, and come back when lost."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from portal.jobs import attempts, scheduling, workers
from portal.jobs.models import Job, Worker
from portal.pods.models import Pod
from portal.reservations import services as reservations
from portal.reservations.models import Reservation
from portal.tenancy import context
from tests.portal.jobs.looking import (
    assert_gapless,
    attempts_of,
    claim_of,
    finish,
    let_lease_run_out,
    occupied_now,
    read,
    report,
    states_of,
    wallet,
)


@pytest.fixture
def slice_now(person):
    """A reservation of two IPUs that is active."""
    pod = Pod.objects.get(slug="pod256")
    with person.opened():
        return reservations.reserve(
            actor=person.actor, pod_id=pod.id, ipus=2, starts_at=timezone.now(),
            ends_at=timezone.now() + timedelta(hours=1), zone="UTC",
        )  # fmt: skip


def due_now(job_id) -> None:
    with context(role="system"):
        Job.objects.filter(id=job_id).update(due_at=Now())


def test_without_a_live_worker_nothing_is_handed_out(submit):
    job = submit()
    assert scheduling.dispatch() == 0
    assert (read(job.id).state, read(job.id).waiting_for) == ("queued", "worker.none")


def test_a_worker_that_fell_silent_gets_nothing(submit, worker):
    with context(role="system"):
        Worker.objects.filter(id=worker).update(heartbeat_at=Now() - timedelta(minutes=1))
    submit()
    assert scheduling.dispatch() == 0
    workers.beat(worker)
    assert scheduling.dispatch() == 1


def test_a_leaving_worker_gets_nothing(submit, worker):
    workers.leave(worker)
    submit()
    assert scheduling.dispatch() == 0


def test_only_free_slots_are_filled_oldest_first(submit, worker):
    jobs = [submit() for _ in range(4)]
    assert scheduling.dispatch() == 2
    assert [read(job.id).state for job in jobs] == ["allocating", "allocating", "queued", "queued"]
    assert [read(job.id).waiting_for for job in jobs] == ["", "", "worker.busy", "worker.busy"]
    claim = claim_of(jobs[0].id, worker)
    assert scheduling.dispatch() == 0
    finish(claim)
    assert scheduling.dispatch() == 1
    assert (read(jobs[2].id).state, read(jobs[2].id).waiting_for) == ("allocating", "")


def test_an_on_demand_job_occupies_its_ipus_while_it_runs(submit, worker):
    job = submit(config={"ipus": 4})
    scheduling.dispatch()
    taken = occupied_now(job.id)
    assert taken is not None
    assert taken.ipu_range.upper - taken.ipu_range.lower == 4
    assert taken.during.upper > timezone.now() + timedelta(minutes=30)
    finish(claim_of(job.id, worker))
    assert occupied_now(job.id) is None


def test_a_full_pod_makes_jobs_wait(submit, worker):
    first, second = submit(config={"ipus": 16}), submit(config={"ipus": 16})
    scheduling.dispatch()
    assert (read(first.id).state, read(second.id).state) == ("allocating", "queued")
    assert read(second.id).waiting_for == "pod.full"
    finish(claim_of(first.id, worker))
    due_now(second.id)
    scheduling.dispatch()
    assert read(second.id).state == "allocating"


def test_a_slice_runs_one_job_at_a_time(submit, worker, slice_now):
    config = {"ipus": None, "system": "pod4"}
    jobs = [submit(config=config, reservation_id=slice_now.id) for _ in range(2)]
    assert [(job.system, job.ipus, job.held_microcredits) for job in jobs] == [("pod256", 2, 0)] * 2
    scheduling.dispatch()
    assert [read(job.id).state for job in jobs] == ["allocating", "queued"]
    assert read(jobs[1].id).waiting_for == "reservation.busy"
    finish(claim_of(jobs[0].id, worker))
    due_now(jobs[1].id)
    scheduling.dispatch()
    assert read(jobs[1].id).state == "allocating"


def test_a_job_stops_when_its_slice_ends(submit, worker, slice_now):
    job = submit(config={"ipus": None}, reservation_id=slice_now.id)
    scheduling.dispatch()
    claim = claim_of(job.id, worker)
    with context(role="system"):
        Reservation.objects.filter(id=slice_now.id).update(
            starts_at=timezone.now() - timedelta(hours=2), ends_at=timezone.now() - timedelta(seconds=1)
        )
    scheduling.stop_at_end_of_slices()
    assert attempts.heartbeat(claim.attempt_id, claim.fence) == attempts.Wish.STOP
    finish(claim)
    ended = read(job.id)
    assert (ended.state, ended.end_code, ended.end_fault) == ("timed_out", "reservation.expired", "limit")


def test_a_queued_job_whose_slice_is_gone_fails_with_the_reason(person, submit, worker, slice_now):
    job = submit(config={"ipus": None}, reservation_id=slice_now.id)
    with person.opened():
        reservations.cancel(actor=person.actor, reservation_id=slice_now.id)
    scheduling.dispatch()
    ended = read(job.id)
    assert (ended.state, ended.end_code, ended.end_fault) == ("failed", "reservation.expired", "limit")


def test_what_nobody_claims_is_sent_again(submit, worker):
    job = submit()
    scheduling.dispatch()
    let_lease_run_out(attempts_of(job.id)[0].id)
    scheduling.tick()
    assert [attempt.state for attempt in attempts_of(job.id)] == ["withdrawn", "dispatched"]
    assert states_of(job.id) == ["queued", "allocating", "queued", "allocating"]
    assert_gapless(job.id)


def test_three_lost_attempts_are_our_fault_and_cost_nothing(person, submit, worker):
    free, _ = wallet(person.org_id)
    job = submit()
    for number in range(1, 4):
        due_now(job.id)
        scheduling.dispatch()
        claim = claim_of(job.id, worker)
        report(claim)
        let_lease_run_out(claim.attempt_id)
        scheduling.reap()
        assert len(attempts_of(job.id)) == number
    ended = read(job.id)
    assert (ended.state, ended.end_code, ended.end_fault) == ("failed", "job.workers_lost", "platform")
    assert ended.captured_microcredits == 0
    assert wallet(person.org_id) == (free, 0)
    assert states_of(job.id).count("failed") == 1


def test_cancelling_with_a_dead_worker_ends_all_the_same(person, start):
    from portal.jobs import services

    job, claim = start()
    with person.opened():
        services.cancel(actor=person.actor, job_id=job.id)
    let_lease_run_out(claim.attempt_id)
    scheduling.reap()
    assert read(job.id).state == "cancelled"
