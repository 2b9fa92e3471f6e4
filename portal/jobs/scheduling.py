"""What the ticker does for jobs: hand queued ones to free workers, take back the unanswered, end what must end.

All of it reads due rows and changes them conditionally, so that two tickers do no harm. System role only.
"""

from __future__ import annotations

import logging
import math
from collections import defaultdict
from datetime import timedelta
from uuid import UUID

from django.db import InterfaceError, OperationalError, connections
from django.db.models import Sum
from django.db.models.functions import Now

from portal import queue
from portal.jobs import deadlines, endings, fairness, slices, story
from portal.jobs.events import JobChanged
from portal.jobs.models import Attempt, Job
from portal.jobs.states import AttemptState, Fault, JobState
from portal.jobs.workers import alive
from portal.tenancy import context, current_alias

logger = logging.getLogger(__name__)

ANSWER_WITHIN = timedelta(seconds=20)  # for a worker to claim what was sent
AFTER_AN_ERROR = timedelta(seconds=30)
MOST_LOST = 3  # attempts that our side may lose before the job fails
OPEN = (AttemptState.DISPATCHED, AttemptState.RUNNING)


def tick() -> None:
    """One round: what is lost first, so that its slots and slices are free again."""
    reap()
    deadlines.sweep()
    stop_at_end_of_slices()
    dispatch()


def dispatch() -> int:
    """Hand due jobs, in the order of `fairness`, to free slots of live workers. Returns how many were handed out.

    One at a time does so, or two would count the same slot as free.
    """
    with context(role="system"):
        return _dispatch() if _alone() else 0


def _alone() -> bool:
    """Whether nobody else is dispatching, until this transaction ends."""
    with connections[current_alias()].cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended('jobs dispatch', 0))")
        return bool(cursor.fetchone()[0])


def _dispatch() -> int:
    slots = alive().aggregate(total=Sum("slots"))["total"] or 0
    free = slots - Attempt.objects.filter(state__in=OPEN).count()
    due = fairness.due()
    now = fairness.standing() if due else fairness.Standing()
    handed, waiting = 0, defaultdict[str, list[UUID]](list)
    refused: dict[UUID, int] = {}  # the fewest IPUs that a pod had no room for in this round
    for job in fairness.in_order(due, now):
        if limit := now.limit_reached(job):
            waiting[limit].append(job.id)
        elif handed >= free:
            waiting["worker.busy" if slots else "worker.none"].append(job.id)
        elif job.ipus and job.ipus >= refused.get(job.pod_id, math.inf):
            waiting["pod.full"].append(job.id)
        elif _hand_out(job):
            handed += 1
            now.add(job.org_id, job.user_id, 0.0, running=1)
        elif job.ipus and Job.objects.filter(id=job.id, waiting_for="pod.full", due_at__gt=Now()).exists():
            refused[job.pod_id] = job.ipus
    for code, job_ids in waiting.items():
        _note(job_ids, code)
    if waiting["worker.busy"]:
        fairness.ask_for_a_turn(len(waiting["worker.busy"]))
    return handed


def _hand_out(waiting: fairness.Waiting) -> bool:
    """An error with one job is logged and stops no other."""
    try:
        with context(role="system"):
            job = (
                Job.objects.select_for_update(skip_locked=True)
                .filter(id=waiting.id, state=JobState.QUEUED, due_at__lte=Now())
                .first()
            )
            return job is not None and _allocate(job)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("job %s could not be handed out", waiting.id)
        Job.objects.filter(id=waiting.id).update(due_at=Now() + AFTER_AN_ERROR)
        return False


def _note(job_ids: list[UUID], code: str) -> None:
    """Note once why these wait, so that nobody has to guess."""
    jobs = Job.objects.filter(id__in=job_ids, state=JobState.QUEUED).exclude(waiting_for=code)
    found = list(jobs.select_for_update(skip_locked=True))
    Job.objects.filter(id__in=[job.id for job in found]).update(waiting_for=code)
    for job in found:
        JobChanged.tell(job, state=job.state)


def _allocate(job: Job) -> bool:
    """Take the job's slice and make an attempt; or note what it waits for, or end it when its slice is gone."""
    decision = slices.take(job)
    if decision.gone:
        end = endings.end_of(decision.code, decision.message, Fault.LIMIT)
        endings.end_job(job, JobState.FAILED, end, since=[JobState.QUEUED])
        return False
    if decision.code:
        Job.objects.filter(id=job.id).update(waiting_for=decision.code, due_at=Now() + decision.wait)
        if job.waiting_for != decision.code:
            JobChanged.tell(job, state=job.state)
        return False
    number, fence = job.attempts_made + 1, job.fence + 1
    if not story.change_state(
        job, JobState.ALLOCATING, since=[JobState.QUEUED], attempts_made=number, fence=fence,
        booking_id=decision.booking_id, waiting_for="",
    ):  # fmt: skip
        return False
    attempt = Attempt.objects.create(
        org_id=job.org_id, project_id=job.project_id, job=job, number=number, fence=fence,
        dispatched_at=Now(), lease_until=Now() + ANSWER_WITHIN,
    )  # fmt: skip
    queue.enqueue(queue.RUN_ATTEMPT, attempt.id)
    return True


def reap() -> None:
    """Give up attempts whose lease has run out; their jobs run again, up to a limit."""
    with context(role="system"):
        late = list(
            Attempt.objects.filter(state__in=OPEN, lease_until__lt=Now())
            .values_list("id", "job_id")
            .order_by("id")[:100]
        )
    for attempt_id, job_id in late:
        with context(role="system"):
            job = Job.objects.select_for_update().get(id=job_id)
            attempt = Attempt.objects.filter(id=attempt_id, state__in=OPEN, lease_until__lt=Now()).first()
            if attempt is not None:
                _give_up(job, attempt)


def _give_up(job: Job, attempt: Attempt) -> None:
    unanswered = attempt.state == AttemptState.DISPATCHED
    Attempt.objects.filter(id=attempt.id).update(
        state=AttemptState.WITHDRAWN if unanswered else AttemptState.LOST, ended_at=Now()
    )
    logger.warning("attempt %s of job %s was %s", attempt.number, job.id, "unanswered" if unanswered else "lost")
    if job.state == JobState.CANCELLING:
        to, end = endings.stopped(job)
        endings.end_job(job, to, end, since=[JobState.CANCELLING])
        return
    lost = Attempt.objects.filter(job=job, state=AttemptState.LOST).count()
    if lost >= MOST_LOST:
        message = f"Our workers were lost {lost} times while this job ran, so it was given up. You are not charged."
        end = endings.end_of("job.workers_lost", message, Fault.PLATFORM, {"attempts": lost})
        endings.end_job(job, JobState.FAILED, end, since=[JobState.ALLOCATING, JobState.COMPILING, JobState.RUNNING])
        return
    slices.release(job)
    withdrawn = Attempt.objects.filter(job=job, state=AttemptState.WITHDRAWN).count()
    wait = timedelta(seconds=min(60, 2 ** min(withdrawn, 6) - 2) if unanswered else 2**lost - 1)
    story.change_state(
        job, JobState.QUEUED, if_fence=attempt.fence, due_at=Now() + wait, phase=None, booking_id=None,
        waiting_for="worker.unanswered" if unanswered else "worker.lost",
    )  # fmt: skip


def stop_at_end_of_slices() -> None:
    """A job still running when its reservation ends is asked to stop."""
    with context(role="system"):
        for job_id in slices.jobs_past_their_reservation():
            job = Job.objects.select_for_update().get(id=job_id)
            story.change_state(
                job, JobState.CANCELLING, since=[JobState.COMPILING, JobState.RUNNING], stop_code="reservation.expired"
            )
