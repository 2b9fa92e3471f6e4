"""Looking at jobs from the system's side, and acting as their worker."""

from typing import Any
from uuid import UUID

from django.db.models.functions import Now
from django.utils import timezone

from portal import storage
from portal.credits.models import Account
from portal.jobs import attempts, story
from portal.jobs.endings import Ending
from portal.jobs.models import Attempt, Job
from portal.pods.models import Occupancy
from portal.tenancy import context

REPORT = {
    "engine": {"release": "test"},
    "fits": True,
    "step_seconds": 0.001,
    "samples_per_second": 4000.0,
    "latency": None,
    "intervals": {"step_seconds": [0.0005, 0.002], "samples_per_second": [2000.0, 8000.0]},
    "parallel": {"global_batch": 4},
}


def read(job_id: UUID) -> Job:
    with context(role="system"):
        return Job.objects.get(id=job_id)


def attempts_of(job_id: UUID) -> list[Attempt]:
    with context(role="system"):
        return list(Attempt.objects.filter(job_id=job_id).order_by("number"))


def claim_of(job_id: UUID, worker: UUID) -> attempts.Claim | None:
    """Take the newest attempt, as a worker does."""
    newest = attempts_of(job_id)[-1]
    return attempts.claim(attempt_id=newest.id, worker_id=worker, worker_name="test")


def events_of(job_id: UUID) -> list[dict[str, Any]]:
    with context(role="system"):
        return story.read(job_id, after=0, limit=10_000)


def states_of(job_id: UUID) -> list[str]:
    return [event["data"]["state"] for event in events_of(job_id) if event["kind"] == "state"]


def assert_gapless(job_id: UUID) -> None:
    assert [event["seq"] for event in events_of(job_id)] == list(range(1, read(job_id).seq + 1))


def report(claim: attempts.Claim, **changes: Any) -> None:
    """Send a report as the simulator makes one."""
    blob = storage.write_bytes(b"{}")
    summary = attempts.summarise({**REPORT, **changes}, claim.config)
    attempts.record_report(claim.attempt_id, claim.fence, blob=blob, summary=summary)


def log(claim: attempts.Claim, batch: int, text: str = "hello", **rest: Any) -> bool:
    """Send one batch of events."""
    rows = [("log", {"lines": [{"level": "info", "message": text, "time": "2026-01-01T00:00:00Z"}]})]
    return attempts.record_events(claim.attempt_id, claim.fence, batch=batch, rows=rows, **rest)


def finish(claim: attempts.Claim, ending: Ending | None = None) -> None:
    ending = ending or Ending(ok=True, result={"final_loss": 0.5})
    attempts.finish(claim.attempt_id, claim.fence, ending=ending, isolation="test")


def occupied_now(job_id: UUID) -> Occupancy | None:
    """The occupancy of an on-demand job, while it lasts."""
    booking = read(job_id).booking_id
    found = Occupancy.objects.filter(id=booking).first() if booking else None
    return found if found and found.during.upper > timezone.now() else None


def wallet(org_id: UUID) -> tuple[int, int]:
    """Free and held micro-credits."""
    with context(role="system"):
        rows = dict(Account.objects.filter(org_id=org_id).values_list("kind", "balance"))
    return rows["wallet"], rows["held"]


def let_lease_run_out(attempt_id: UUID) -> None:
    with context(role="system"):
        Attempt.objects.filter(id=attempt_id).update(lease_until=Now())
