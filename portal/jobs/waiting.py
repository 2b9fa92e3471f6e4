"""Why a job waits: the rule in one sentence, its place in the order, and when it may start, with how sure that is.

It only tells; `scheduling` decides. It counts other people's jobs and names none of them. System role.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import F, Sum
from django.utils import timezone

from portal.jobs import fairness
from portal.jobs.models import Attempt, Job
from portal.jobs.states import AttemptState, JobState
from portal.jobs.workers import alive
from portal.reservations.models import Reservation
from portal.tenancy import context

RECENT = 50  # runs that an estimate of the start is made from
FEWEST = 5  # with fewer there is none
RULES = {
    "queue.new": "The job was queued just now and is looked at within a second.",
    "worker.none": "The job waits for a worker: none is running now. Its operator can start one.",
    "worker.busy": "The job waits for a worker: all of them are busy, and who has used least comes first.",
    "worker.lost": "The worker was lost. The job waits a little and then goes on from its last checkpoint.",
    "worker.unanswered": "A worker did not answer. The job waits a little and is then given to another.",
    "worker.handed_back": "The job gave its worker to others and goes on from its checkpoint at its next turn.",
    "pod.full": "The job waits until {ipus} IPUs of the system are free beside each other.",
    "reservation.busy": "The job waits until the job before it on this slice has ended.",
    "reservation.not_active_yet": "The job waits until its reservation begins, at {starts_at}.",
    "limit.person": "The job waits for one of your own: {limit} of a person run at once here.",
    "limit.organization": "The job waits for one of your organization's: {limit} of an organization run at once here.",
    "state.allocating": "The job does not wait: it was given to a worker, which answers within seconds.",
    "state.compiling": "The job does not wait: it is being compiled.",
    "state.running": "The job does not wait: it is running.",
    "state.cancelling": "The job does not wait: it is being stopped.",
    "state.ended": "The job does not wait: it has ended.",
}


@dataclass(frozen=True)
class Start:
    """When a job may start: the middle and the bounds of it, and of how many recent runs it was made (0: fixed)."""

    at: datetime
    earliest: datetime
    latest: datetime
    runs: int


@dataclass(frozen=True)
class Why:
    """The answer. `place` counts from 1 among all that wait."""

    code: str
    sentence: str
    params: dict[str, Any] = field(default_factory=dict)
    place: int | None = None
    waiting: int | None = None
    start: Start | None = None


def why(job: Job) -> Why:
    """Which rule the job waits for."""
    if job.state != JobState.QUEUED:
        code = f"state.{job.state}"
        code = code if code in RULES else "state.ended"
        return Why(code, RULES[code])
    with context(role="system"):
        code = job.waiting_for or "queue.new"
        params = _params(job, code)
        place, waiting = _place(job)
        start = _fixed_start(job, code) or _start(place, code)
    return Why(code, RULES[code].format(**params), params, place, waiting, start)


def _params(job: Job, code: str) -> dict[str, Any]:
    match code:
        case "pod.full":
            return {"ipus": job.ipus}
        case "limit.person":
            return {"limit": settings.PODIUM_PERSON_SLOTS}
        case "limit.organization":
            return {"limit": settings.PODIUM_ORGANIZATION_SLOTS}
        case "reservation.not_active_yet":
            return {"starts_at": f"{_reservation(job).starts_at:%Y-%m-%d %H:%M} UTC"}
    return {}


def _place(job: Job) -> tuple[int, int]:
    """Its place, and how many wait. One that is not due now is counted as if it were."""
    due = fairness.due()
    if not any(each.id == job.id for each in due):
        due.append(fairness.Waiting(job.id, job.org_id, job.created_by_id, job.pod_id, job.ipus))
    place = 1 + next(n for n, each in enumerate(fairness.in_order(due, fairness.standing())) if each.id == job.id)
    return place, len(due)


def _fixed_start(job: Job, code: str) -> Start | None:
    if code != "reservation.not_active_yet":
        return None
    at = _reservation(job).starts_at
    return Start(at, at, at, runs=0)


def _reservation(job: Job) -> Reservation:
    assert job.reservation_id is not None
    return Reservation.objects.get(id=job.reservation_id)


def _start(place: int, code: str) -> Start | None:
    """From how long recent runs held their slots, with the quarters as bounds. None when too little is known."""
    slots = alive().aggregate(total=Sum("slots"))["total"] or 0
    ended = Attempt.objects.filter(state=AttemptState.ENDED, claimed_at__isnull=False).order_by("-ended_at")
    times = ended.annotate(took=F("ended_at") - F("claimed_at")).values_list("took", flat=True)[:RECENT]
    seconds = [took.total_seconds() for took in times]
    if not slots or len(seconds) < FEWEST or code == "pod.full":
        return None
    low, middle, high = statistics.quantiles(seconds, n=4)
    rounds = math.ceil(place / slots)
    now = timezone.now()
    bounds = ((rounds - 0.5) * middle, (rounds - 1) * max(low, 0.0), rounds * high)
    at, earliest, latest = (now + timedelta(seconds=bound) for bound in bounds)
    return Start(max(at, earliest), earliest, max(at, latest), runs=len(seconds))
