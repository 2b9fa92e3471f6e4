"""No state is for ever: for each that a job can wait in, what becomes of it after its deadline, and whose it was."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from portal.jobs import attempts, deadlines, services
from portal.jobs.models import Attempt, Job
from portal.jobs.states import TERMINAL, JobState
from portal.tenancy import context
from tests.portal.jobs.looking import assert_gapless, attempts_of, claim_of, log, read, wallet


def age(job_id, by: timedelta) -> None:
    """Its state was entered so long ago; the lease of its attempt holds, as if something kept renewing it."""
    with context(role="system"):
        Job.objects.filter(id=job_id).update(state_at=Now() - by)
        Attempt.objects.filter(job_id=job_id).update(lease_until=Now() + timedelta(days=1))


@pytest.fixture
def in_state(person, submit, worker):
    """A job that has come to a state by the road that jobs take."""
    from portal.jobs import scheduling

    def make(state: JobState) -> Job:
        job = submit()
        if state == JobState.QUEUED:
            return job
        scheduling.dispatch()
        if state == JobState.ALLOCATING:
            return job
        claim = claim_of(job.id, worker)
        if state != JobState.COMPILING:
            log(claim, 1, executing=True)
        if state == JobState.CANCELLING:
            with person.opened():
                services.cancel(actor=person.actor, job_id=job.id)
        assert read(job.id).state == state
        return job

    return make


def test_every_state_that_is_not_the_end_has_a_deadline_and_an_owner():
    assert set(deadlines.DEADLINES) == set(JobState) - set(TERMINAL)
    assert all(deadline.owner for deadline in deadlines.DEADLINES.values())


EXPECTED = {
    JobState.QUEUED: (timedelta(days=8), "failed", "job.waited_too_long", "platform"),
    JobState.ALLOCATING: (timedelta(minutes=2), "queued", "", ""),
    JobState.COMPILING: (timedelta(hours=2), "timed_out", "job.time_limit", "limit"),
    JobState.RUNNING: (timedelta(hours=2), "timed_out", "job.time_limit", "limit"),
    JobState.CANCELLING: (timedelta(minutes=2), "cancelled", "job.cancelled", "user"),
}


@pytest.mark.parametrize("state", EXPECTED)
def test_a_job_that_stays_too_long_is_moved_on(in_state, person, state):
    old, becomes, code, fault = EXPECTED[state]
    job = in_state(state)
    assert deadlines.sweep() == 0, "before its deadline it is left alone"
    age(job.id, old)
    assert deadlines.sweep() == 1
    after = read(job.id)
    assert (after.state, after.end_code, after.end_fault) == (becomes, code, fault)
    assert not any(attempt.state in {"dispatched", "running"} for attempt in attempts_of(job.id))
    if becomes != "queued":
        assert wallet(person.org_id)[1] == 0, "nothing stays held"
    assert_gapless(job.id)
    assert deadlines.sweep() == 0


def test_a_worker_that_outstayed_is_refused(in_state):
    job = in_state(JobState.RUNNING)
    age(job.id, timedelta(hours=2))
    deadlines.sweep()
    attempt = attempts_of(job.id)[0]
    with pytest.raises(attempts.StaleFence):
        attempts.heartbeat(attempt.id, attempt.fence)
