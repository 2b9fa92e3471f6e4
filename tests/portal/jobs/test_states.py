"""The states of a job: each change happens once, in one place, and is told; a stale attempt writes nothing."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connections, transaction

from portal.jobs import attempts, scheduling, services
from portal.jobs.endings import Ending
from portal.jobs.models import Job, JobEvent
from portal.jobs.states import FOLLOWS, TERMINAL, JobState, may_become
from portal.tenancy import context
from tests.portal.jobs.looking import (
    assert_gapless,
    attempts_of,
    claim_of,
    events_of,
    finish,
    let_lease_run_out,
    log,
    occupied_now,
    read,
    report,
    states_of,
)


def cancel(person: Any, job_id: Any) -> Job:
    with person.opened():
        return services.cancel(actor=person.actor, job_id=job_id)


def test_the_usual_way(start):
    job, claim = start()
    report(claim)
    log(claim, 1, phase={"name": "execute", "fraction": 0.5}, progress={"done": 5, "total": 10}, executing=True)
    shown = read(job.id)
    assert (shown.state, shown.phase, shown.progress) == (
        "running", {"name": "execute", "fraction": 0.5}, {"done": 5, "total": 10},
    )  # fmt: skip
    finish(claim)
    assert states_of(job.id) == ["queued", "allocating", "compiling", "running", "succeeded"]
    assert [event["kind"] for event in events_of(job.id)][-2:] == ["state", "ended"]
    ended = read(job.id)
    assert (ended.end_fault, ended.result["final_loss"]) == ("none", 0.5)
    assert ended.ended_at is not None
    assert_gapless(job.id)


def test_terminal_states_are_final():
    assert all(FOLLOWS[state] == () for state in TERMINAL)
    assert JobState.RUNNING not in may_become(JobState.ALLOCATING)


@pytest.mark.parametrize("state", ["queued", "allocating", "compiling", "running"])
def test_cancel_works_in_every_state(person, submit, worker, state):
    job = submit()
    claim = None
    if state != "queued":
        scheduling.dispatch()
    if state in ("compiling", "running"):
        claim = claim_of(job.id, worker)
    if state == "running":
        log(claim, 1, executing=True)
    assert read(job.id).state == state
    cancel(person, job.id)
    if claim is not None:
        assert read(job.id).state == "cancelling"
        assert attempts.heartbeat(claim.attempt_id, claim.fence) == attempts.Wish.STOP
        finish(claim, Ending(ok=False, code="job.cancelled"))
    ended = read(job.id)
    assert (ended.state, ended.end_code, ended.end_fault) == ("cancelled", "job.cancelled", "user")
    assert occupied_now(job.id) is None
    assert_gapless(job.id)
    assert cancel(person, job.id).state == "cancelled"
    assert states_of(job.id).count("cancelled") == 1


def test_a_claim_after_cancelling_comes_to_nothing(person, submit, worker):
    job = submit()
    scheduling.dispatch()
    cancel(person, job.id)
    assert claim_of(job.id, worker) is None
    assert read(job.id).state == "cancelled"


def test_a_message_that_comes_twice_is_claimed_once(start, worker):
    job, claim = start()
    assert claim is not None
    assert claim_of(job.id, worker) is None
    assert states_of(job.id).count("compiling") == 1


def test_a_batch_that_is_sent_twice_is_written_once(start):
    job, claim = start()
    log(claim, 1, "first")
    log(claim, 1, "first")
    log(claim, 2, "second")
    texts = [event["data"]["lines"][0]["message"] for event in events_of(job.id) if event["kind"] == "log"]
    assert texts == ["first", "second"]
    assert_gapless(job.id)


def test_a_stale_fence_is_refused(start, worker):
    job, old = start()
    log(old, 1)
    let_lease_run_out(old.attempt_id)
    scheduling.reap()
    with context(role="system"):
        Job.objects.filter(id=job.id).update(due_at=job.created_at)
    scheduling.dispatch()
    new = claim_of(job.id, worker)
    assert new is not None
    assert new.fence > old.fence
    before = read(job.id).seq
    for write in (
        lambda: log(old, 2),
        lambda: attempts.heartbeat(old.attempt_id, old.fence),
        lambda: report(old),
        lambda: finish(old),
        lambda: log(attempts.Claim(**{**old.__dict__, "fence": new.fence}), 1),
    ):
        with pytest.raises(attempts.StaleFence):
            write()
    assert read(job.id).seq == before
    log(new, 1)
    finish(new)
    assert read(job.id).state == "succeeded"
    assert_gapless(job.id)


def test_finishing_twice_changes_nothing(start):
    job, claim = start()
    finish(claim)
    seq = read(job.id).seq
    finish(claim)
    assert (read(job.id).seq, read(job.id).state) == (seq, "succeeded")


def together(*acts: Callable[[], Any]) -> list[Any]:
    """Run all at the same moment, each on its own connections."""
    barrier = threading.Barrier(len(acts))
    results: list[Any] = [None] * len(acts)

    def one(index: int, act: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results[index] = act()
        except Exception as error:
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=(index, act)) for index, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("round_number", range(6))
def test_cancel_against_finish(person, start, round_number):
    job, claim = start()
    log(claim, 1, executing=True)
    results = together(lambda: cancel(person, job.id), lambda: finish(claim))
    assert not [result for result in results if isinstance(result, Exception)]
    ended = read(job.id)
    assert ended.state in ("cancelled", "succeeded")
    assert [event["kind"] for event in events_of(job.id)].count("ended") == 1
    assert_gapless(job.id)


def test_many_writers_leave_no_gap(person, start):
    job, claim = start()
    writers = [lambda: attempts.heartbeat(claim.attempt_id, claim.fence) for _ in range(4)]
    writers += [lambda: [log(claim, number) for number in range(1, 11)], lambda: cancel(person, job.id)]
    results = together(*writers)
    assert not [result for result in results if isinstance(result, Exception)]
    assert_gapless(job.id)


def test_two_tickers_hand_a_job_out_once(submit, worker):
    job = submit()
    together(scheduling.dispatch, scheduling.dispatch, scheduling.dispatch)
    assert len(attempts_of(job.id)) == 1
    assert states_of(job.id) == ["queued", "allocating"]


def test_the_story_is_only_ever_added_to(start):
    job, _ = start()
    for act in (
        lambda: JobEvent.objects.filter(job_id=job.id).update(kind="log"),
        lambda: JobEvent.objects.filter(job_id=job.id)._raw_delete("system"),
    ):
        with (
            pytest.raises(DatabaseError, match="permission denied"),
            context(role="system"),
            transaction.atomic("system"),
        ):
            act()


def test_an_event_is_at_most_16_kib(start):
    job, claim = start()
    with pytest.raises(DatabaseError, match="is_small"):
        log(claim, 1, "x" * 17_000)
    assert_gapless(job.id)
