"""Each rule that a job can wait for is told in one sentence, with its place and when it may start."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from portal.jobs import scheduling, waiting
from portal.jobs.models import Attempt, Job, Usage, Worker
from portal.pods.models import Pod
from portal.reservations import services as reservations
from portal.tenancy import context
from tests.portal.jobs.looking import attempts_of, claim_of, finish, let_lease_run_out, read

GOLDEN = {
    "queue.new": "The job was queued just now and is looked at within a second.",
    "worker.none": "The job waits for a worker: none is running now. Its operator can start one.",
    "worker.busy": "The job waits for a worker: all of them are busy, and who has used least comes first.",
    "worker.lost": "The worker was lost. The job waits a little and then goes on from its last checkpoint.",
    "worker.unanswered": "A worker did not answer. The job waits a little and is then given to another.",
    "worker.handed_back": "The job gave its worker to others and goes on from its checkpoint at its next turn.",
    "pod.full": "The job waits until 16 IPUs of the system are free beside each other.",
    "reservation.busy": "The job waits until the job before it on this slice has ended.",
    "reservation.not_active_yet": "The job waits until its reservation begins, at 2031-05-06 07:08 UTC.",
    "limit.person": "The job waits for one of your own: 1 of a person run at once here.",
    "limit.organization": "The job waits for one of your organization's: 1 of an organization run at once here.",
    "state.allocating": "The job does not wait: it was given to a worker, which answers within seconds.",
    "state.compiling": "The job does not wait: it is being compiled.",
    "state.running": "The job does not wait: it is running.",
    "state.cancelling": "The job does not wait: it is being stopped.",
    "state.ended": "The job does not wait: it has ended.",
}


@pytest.fixture(autouse=True)
def no_use(quiet):
    with context(role="system"):
        Usage.objects.all().delete()
        Attempt.objects.filter(state="ended").update(state="withdrawn")


@pytest.fixture
def slice_now(person):
    with person.opened():
        return reservations.reserve(
            actor=person.actor, pod_id=Pod.objects.get(slug="pod256").id, ipus=2, starts_at=timezone.now(),
            ends_at=timezone.now() + timedelta(hours=1), zone="UTC",
        )  # fmt: skip


def told(job) -> tuple[str, str]:
    answer = waiting.why(read(job.id))
    return answer.code, answer.sentence


def test_every_rule_has_its_sentence():
    assert set(waiting.RULES) == set(GOLDEN)


def test_new_none_and_busy(submit, worker):
    jobs = [submit() for _ in range(3)]
    assert told(jobs[0]) == ("queue.new", GOLDEN["queue.new"])
    scheduling.dispatch()
    assert told(jobs[2]) == ("worker.busy", GOLDEN["worker.busy"])
    assert told(jobs[0]) == ("state.allocating", GOLDEN["state.allocating"])
    with context(role="system"):
        Worker.objects.all().delete()
    scheduling.dispatch()
    assert told(jobs[2]) == ("worker.none", GOLDEN["worker.none"])


def test_lost_unanswered_and_handed_back(start, submit, worker):
    from portal.jobs import attempts

    job, claim = start()
    assert told(job) == ("state.compiling", GOLDEN["state.compiling"])
    attempts.hand_back(claim.attempt_id, claim.fence, isolation="test")
    assert told(job) == ("worker.handed_back", GOLDEN["worker.handed_back"])
    scheduling.dispatch()
    let_lease_run_out(attempts_of(job.id)[-1].id)
    scheduling.reap()
    assert told(job) == ("worker.unanswered", GOLDEN["worker.unanswered"])
    other, claim = start()
    let_lease_run_out(claim.attempt_id)
    scheduling.reap()
    assert told(other) == ("worker.lost", GOLDEN["worker.lost"])


@pytest.mark.parametrize("whose", ["person", "organization"])
def test_limits(settings, submit, worker, whose):
    setattr(settings, f"PODIUM_{whose.upper()}_SLOTS", 1)
    jobs = [submit(), submit()]
    scheduling.dispatch()
    assert told(jobs[1]) == (f"limit.{whose}", GOLDEN[f"limit.{whose}"])


def test_slices_and_pods(submit, worker, slice_now):
    busy = [submit(config={"ipus": None}, reservation_id=slice_now.id) for _ in range(2)]
    scheduling.dispatch()
    assert told(busy[1]) == ("reservation.busy", GOLDEN["reservation.busy"])
    finish(claim_of(busy[0].id, worker))
    with context(role="system"):
        Job.objects.filter(id=busy[1].id).update(waiting_for="reservation.not_active_yet")
        begins = timezone.now().replace(2031, 5, 6, 7, 8)
        type(slice_now).objects.filter(id=slice_now.id).update(starts_at=begins, ends_at=begins + timedelta(hours=1))
    assert told(busy[1]) == ("reservation.not_active_yet", GOLDEN["reservation.not_active_yet"])
    start = waiting.why(read(busy[1].id)).start
    assert start is not None
    assert (start.at, start.latest, start.runs) == (begins, begins, 0)


def test_a_full_pod(submit, worker):
    jobs = [submit(config={"ipus": 16}) for _ in range(2)]
    scheduling.dispatch()
    assert told(jobs[1]) == ("pod.full", GOLDEN["pod.full"])


@pytest.mark.parametrize("state", ["running", "cancelling", "ended"])
def test_what_does_not_wait(state):
    assert waiting.why(Job(state="succeeded" if state == "ended" else state)).sentence == GOLDEN[f"state.{state}"]


def test_place_and_start_come_from_the_order_and_from_recent_runs(submit, worker, stranger):
    ended = [submit() for _ in range(6)]
    for job in ended:
        scheduling.dispatch()
        finish(claim_of(job.id, worker))
    with context(role="system"):
        mine = Attempt.objects.filter(job_id__in=[job.id for job in ended])
        mine.update(claimed_at=Now() - timedelta(seconds=60), ended_at=Now())
    jobs = [submit() for _ in range(4)]
    scheduling.dispatch()
    foreign = submit(who=stranger)
    answers = [waiting.why(read(job.id)) for job in (foreign, *jobs[2:])]
    assert [answer.place for answer in answers] == [1, 2, 3], "who used nothing comes first"
    assert all(answer.waiting == 3 for answer in answers)
    first, last = answers[0].start, answers[2].start
    assert first is not None
    assert last is not None
    assert first.runs == 6
    assert last.at - first.at == pytest.approx(timedelta(seconds=60), abs=timedelta(seconds=5))
    assert last.earliest <= last.at <= last.latest


def test_with_few_runs_no_start_is_told(submit, worker):
    assert waiting.why(read(submit().id)).start is None


def test_over_http(person, stranger, submit, worker):
    job = submit()
    browser = person.browser()
    answer = browser.get(f"/api/v1/jobs/{job.id}/why").json()
    assert (answer["code"], answer["place"]) == ("queue.new", 1)
    assert stranger.browser().get(f"/api/v1/jobs/{job.id}/why").status_code == 404
    scheduling.dispatch()
    (share,) = browser.get(f"/api/v1/organizations/{person.org_id}/share").json()
    assert (share["running"], share["share"], share["aims_at"]) == (1, 1.0, 1.0)
    assert browser.get("/api/v1/shares").status_code == 404
    person.user.is_operator = True
    person.user.save()
    assert {str(person.org_id)} == {row["id"] for row in browser.get("/api/v1/shares").json()}
    drained = browser.post("/api/v1/workers", {"draining": True}, content_type="application/json")
    assert [row["draining"] for row in drained.json()] == [True]
