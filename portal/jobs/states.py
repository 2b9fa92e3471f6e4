"""The states of a job and of an attempt, and which may follow which. Rows change elsewhere: see `story`."""

from __future__ import annotations

from django.db import models


class JobState(models.TextChoices):
    """QUEUED waits for a slice and a worker; ALLOCATING is handed to a worker that has not answered yet."""

    QUEUED = "queued"
    ALLOCATING = "allocating"
    COMPILING = "compiling"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"


class AttemptState(models.TextChoices):
    """One try: handed out, held by a worker, over, given up (nobody answered for it), taken back before it began.

    HANDED_BACK was given back by its worker, to go on elsewhere or later.
    """

    DISPATCHED = "dispatched"
    RUNNING = "running"
    ENDED = "ended"
    LOST = "lost"
    WITHDRAWN = "withdrawn"
    HANDED_BACK = "handed_back"


class Fault(models.TextChoices):
    """Whose doing the end was."""

    USER = "user"
    PLATFORM = "platform"
    LIMIT = "limit"
    NONE = "none"


TERMINAL = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED, JobState.TIMED_OUT)
WAITING = (JobState.QUEUED, JobState.ALLOCATING)
WITH_WORKER = (JobState.COMPILING, JobState.RUNNING, JobState.CANCELLING)
HOLDS_SLICE = (JobState.ALLOCATING, *WITH_WORKER)

FOLLOWS: dict[JobState, tuple[JobState, ...]] = {
    JobState.QUEUED: (JobState.ALLOCATING, JobState.CANCELLED, JobState.FAILED),
    JobState.ALLOCATING: (JobState.COMPILING, JobState.QUEUED, JobState.CANCELLED, JobState.FAILED),
    JobState.COMPILING: (JobState.RUNNING, JobState.QUEUED, JobState.CANCELLING, *TERMINAL),
    JobState.RUNNING: (JobState.QUEUED, JobState.CANCELLING, *TERMINAL),
    JobState.CANCELLING: TERMINAL,
    JobState.SUCCEEDED: (),
    JobState.FAILED: (),
    JobState.CANCELLED: (),
    JobState.TIMED_OUT: (),
}


def may_become(state: JobState) -> list[JobState]:
    """The states from which `state` may be entered."""
    return [before for before, after in FOLLOWS.items() if state in after]
