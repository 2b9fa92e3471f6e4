"""How long a job may stay in each state, who is in charge of it there, and what becomes of one that stays longer.

The lease of an attempt is shorter than all of these and comes first (see `scheduling.reap`). This is the wall behind
it, so that nothing is stuck for ever, whatever was lost. System role only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db.models import DateTimeField, DurationField, ExpressionWrapper, F, QuerySet, Value
from django.db.models.functions import Now

from portal.jobs import endings, slices, story
from portal.jobs.models import Attempt, Job
from portal.jobs.states import AttemptState, Fault, JobState
from portal.tenancy import context

logger = logging.getLogger(__name__)
SLACK = timedelta(seconds=60)  # beyond the limit of time that the worker keeps itself
SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Deadline:
    """Of one state. `with_run_time` adds the job's own limit of time."""

    owner: str
    within: Callable[[], timedelta]
    then: Callable[[Job], None]
    with_run_time: bool = False


def sweep() -> int:
    """Act on every job that is past the deadline of its state. Returns how many there were."""
    found = 0
    for state, deadline in DEADLINES.items():
        with context(role="system"):
            late = list(_late(state, deadline).values_list("id", flat=True)[:100])
        for job_id in late:
            with context(role="system"):
                job = _late(state, deadline).select_for_update(skip_locked=True).filter(id=job_id).first()
                if job is not None:
                    logger.warning("job %s was %s for too long, %s was in charge", job.id, state, deadline.owner)
                    deadline.then(job)
                    found += 1
    return found


def _late(state: JobState, deadline: Deadline) -> QuerySet[Job]:
    until = F("state_at") + Value(deadline.within(), output_field=DurationField())
    if deadline.with_run_time:
        run_time = F("wall_seconds") * Value(SECOND, output_field=DurationField())
        until = until + ExpressionWrapper(run_time, output_field=DurationField())
    moment = ExpressionWrapper(until, output_field=DateTimeField())
    return Job.objects.filter(state=state).annotate(until=moment).filter(until__lt=Now())


def _close_attempts(job: Job, state: AttemptState) -> None:
    open_ = Attempt.objects.filter(job=job, state__in=[AttemptState.DISPATCHED, AttemptState.RUNNING])
    open_.update(state=state, ended_at=Now())


def _waited_too_long(job: Job) -> None:
    text = (
        "The job waited longer than jobs may wait here, and nothing was charged. Run it again when there is more room."
    )
    end = endings.end_of("job.waited_too_long", text, Fault.PLATFORM)
    endings.end_job(job, JobState.FAILED, end, since=[JobState.QUEUED])


def _back_to_the_queue(job: Job) -> None:
    _close_attempts(job, AttemptState.WITHDRAWN)
    slices.release(job)
    story.change_state(
        job, JobState.QUEUED, since=[JobState.ALLOCATING], due_at=Now(), phase=None, booking_id=None,
        waiting_for="worker.unanswered",
    )  # fmt: skip


def _over_time(job: Job) -> None:
    _close_attempts(job, AttemptState.LOST)
    end = endings.end_of("job.time_limit", endings.TIME_LIMIT.format(limit=job.wall_seconds), Fault.LIMIT)
    endings.end_job(job, JobState.TIMED_OUT, end, since=[JobState.COMPILING, JobState.RUNNING])


def _stop_now(job: Job) -> None:
    _close_attempts(job, AttemptState.LOST)
    to, end = endings.stopped(job)
    endings.end_job(job, to, end, since=[JobState.CANCELLING])


DEADLINES = {
    JobState.QUEUED: Deadline(
        "the scheduler", lambda: timedelta(seconds=settings.PODIUM_QUEUE_SECONDS), _waited_too_long
    ),
    JobState.ALLOCATING: Deadline("the scheduler", lambda: timedelta(seconds=60), _back_to_the_queue),
    JobState.COMPILING: Deadline("the worker", lambda: SLACK, _over_time, with_run_time=True),
    JobState.RUNNING: Deadline("the worker", lambda: SLACK, _over_time, with_run_time=True),
    JobState.CANCELLING: Deadline("the worker", lambda: timedelta(seconds=60), _stop_now),
}
