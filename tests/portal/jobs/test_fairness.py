"""Slots go to those who used least, limits make jobs wait, long runs give way, and shares are told as they are."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from portal.jobs import attempts, fairness, scheduling, services, workers
from portal.jobs.models import Attempt, Checkpoint, Job, Usage, Worker
from portal.tenancy import context, uuid7
from tests.portal.jobs.looking import (
    assert_gapless,
    attempts_of,
    claim_of,
    events_of,
    finish,
    log,
    occupied_now,
    read,
    wallet,
)


@pytest.fixture(autouse=True)
def no_use(quiet):
    with context(role="system"):
        Usage.objects.all().delete()


def used(person, seconds: float, *, ago: timedelta = timedelta()) -> None:
    with context(role="system"):
        Usage.objects.create(
            org_id=person.org_id, user_id=person.actor.user_id, slot_seconds=seconds, as_of=Now() - ago
        )


def began(job_id, ago: timedelta) -> None:
    with context(role="system"):
        Attempt.objects.filter(job_id=job_id).update(claimed_at=Now() - ago)


def handed_out(jobs) -> list[bool]:
    return [read(job.id).state == "allocating" for job in jobs]


def test_who_used_less_goes_first_though_later(submit, worker, person, stranger):
    used(person, 1000.0)
    jobs = [submit(), submit(), submit(who=stranger)]
    scheduling.dispatch()
    assert handed_out(jobs) == [True, False, True]
    assert read(jobs[1].id).waiting_for == "worker.busy"


def test_one_round_alternates_between_organizations(submit, worker, person, stranger):
    jobs = [submit(), submit(), submit(), submit(who=stranger)]
    scheduling.dispatch()
    assert handed_out(jobs) == [True, False, False, True]


def test_use_is_worth_half_after_each_half_life(settings, person, stranger, submit, worker):
    settings.PODIUM_USAGE_HALF_LIFE_SECONDS = 3600.0
    used(person, 800.0, ago=timedelta(hours=3))
    used(stranger, 150.0)
    with context(role="system"):
        now = fairness.standing()
    assert now.used[person.org_id] == pytest.approx(100.0, rel=0.01)
    assert now.used[stranger.org_id] == pytest.approx(150.0, rel=0.01)


def test_what_an_attempt_took_is_counted_once_and_only_when_it_ended(start, person):
    job, claim = start()
    began(job.id, timedelta(seconds=100))
    finish(claim)
    finish(claim)
    with context(role="system"):
        assert Usage.objects.get(org_id=person.org_id).slot_seconds == pytest.approx(100.0, abs=2)


def test_what_our_side_lost_is_not_counted(start, person):
    from tests.portal.jobs.looking import let_lease_run_out

    job, claim = start()
    began(job.id, timedelta(seconds=100))
    let_lease_run_out(claim.attempt_id)
    scheduling.reap()
    with context(role="system"):
        assert not Usage.objects.filter(org_id=person.org_id).exists()


@pytest.mark.parametrize("whose", ["person", "organization"])
def test_a_limit_makes_jobs_wait_and_never_fail(settings, submit, worker, whose):
    setattr(settings, f"PODIUM_{whose.upper()}_SLOTS", 1)
    jobs = [submit(), submit()]
    scheduling.dispatch()
    assert handed_out(jobs) == [True, False]
    assert read(jobs[1].id).waiting_for == f"limit.{whose}"
    finish(claim_of(jobs[0].id, worker))
    scheduling.dispatch()
    assert read(jobs[1].id).state == "allocating"


def long_run(start, *, checkpoint: bool = True):
    job, claim = start()
    log(claim, 1, executing=True)
    began(job.id, timedelta(hours=1))
    if checkpoint:
        with context(role="system"):
            Checkpoint.objects.create(
                org_id=job.org_id, project_id=job.project_id, job_id=job.id, attempt_number=1, step=5,
                sha256=uuid7().hex * 2, created_at=Now(),
            )  # fmt: skip
    return job, claim


def wish(claim) -> str:
    return attempts.heartbeat(claim.attempt_id, claim.fence)


def test_a_long_run_gives_way_to_a_small_one_and_goes_on_later(start, submit, worker):
    with context(role="system"):
        Worker.objects.filter(id=worker).update(slots=1)
    long, claim = long_run(start)
    assert wish(claim) == "go_on", "nobody waits"
    small = submit()
    scheduling.dispatch()
    assert wish(claim) == "hand_back"
    attempts.hand_back(claim.attempt_id, claim.fence, isolation="test")
    attempts.hand_back(claim.attempt_id, claim.fence, isolation="test")
    given = read(long.id)
    assert (given.state, given.waiting_for, given.turns) == ("queued", "worker.handed_back", 1)
    assert occupied_now(long.id) is None
    scheduling.dispatch()
    assert (read(small.id).state, read(long.id).state) == ("allocating", "queued")
    finish(claim_of(small.id, worker))
    scheduling.dispatch()
    again = claim_of(long.id, worker)
    assert again.wall_seconds == pytest.approx(claim.wall_seconds - 3600, abs=5) or again.wall_seconds == 1
    assert wish(again) == "go_on"
    assert_gapless(long.id)


def test_a_run_without_a_checkpoint_keeps_its_slot(start, submit, worker):
    _, claim = long_run(start, checkpoint=False)
    for _ in range(3):
        submit()
    scheduling.dispatch()
    assert wish(claim) == "go_on"


def test_a_draining_worker_hands_back_and_takes_no_more(start, submit, worker):
    job, claim = start()
    assert workers.drain() == 1
    assert wish(claim) == "hand_back"
    attempts.hand_back(claim.attempt_id, claim.fence, isolation="test")
    scheduling.dispatch()
    assert (read(job.id).state, read(job.id).waiting_for) == ("queued", "worker.none")
    assert [attempt.state for attempt in attempts_of(job.id)] == ["handed_back"]
    assert workers.drain(draining=False) == 1
    scheduling.dispatch()
    assert read(job.id).state == "allocating"


def test_a_cancelled_job_is_not_handed_back_but_ends(start, person):
    job, claim = start()
    with person.opened():
        services.cancel(actor=person.actor, job_id=job.id)
    attempts.hand_back(claim.attempt_id, claim.fence, isolation="test")
    assert read(job.id).state == "cancelled"
    assert wallet(person.org_id)[1] == 0


def test_handing_back_needs_the_fence_of_the_attempt(start):
    job, claim = start()
    with pytest.raises(attempts.StaleFence):
        attempts.hand_back(claim.attempt_id, claim.fence + 1, isolation="test")
    assert read(job.id).state == "compiling"


def test_a_worker_of_one_attempt_cannot_write_to_another(start):
    """S-15: the fence is of one attempt, and another attempt's does not fit."""
    mine, my_claim = start()
    other, its_claim = start()
    with context(role="system"):
        Attempt.objects.filter(id=its_claim.attempt_id).update(fence=7)
        Job.objects.filter(id=other.id).update(fence=7)
    for act in (
        lambda: attempts.heartbeat(its_claim.attempt_id, my_claim.fence),
        lambda: attempts.record_checkpoint(its_claim.attempt_id, my_claim.fence, step=1, blob=None),
        lambda: attempts.record_events(its_claim.attempt_id, my_claim.fence, batch=1, rows=[]),
    ):
        with pytest.raises(attempts.StaleFence):
            act()
    assert mine.id != other.id


def test_another_release_of_the_engine_is_said(submit, worker):
    with context(role="system"):
        Worker.objects.filter(id=worker).update(engine_release="1999.1")
    job = submit()
    scheduling.dispatch()
    claim_of(job.id, worker)
    lines = [line["message"] for event in events_of(job.id) for line in event["data"].get("lines", ())]
    assert any("release 1999.1 of the engine" in line for line in lines), lines
