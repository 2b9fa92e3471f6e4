"""A job's state and its events, changed together: each function is one conditional update and the rows that tell of it.

Callers have opened a transaction with `tenancy.context`. Nothing here decides when a change is due.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connections
from django.db.models.functions import Now

from portal.jobs.events import JobChanged
from portal.jobs.models import Job, JobEvent
from portal.jobs.states import TERMINAL, JobState, may_become
from portal.tenancy import current_alias

Row = tuple[str, dict[str, Any]]

# One statement takes the numbers and proves the right to write: a reader that has seen number n has seen all below it,
# since the row stays locked until this transaction commits.
_TAKE = """
UPDATE jobs_job SET seq = seq + %(count)s, batch = COALESCE(%(batch)s, batch)
WHERE id = %(job)s AND (%(fence)s::bigint IS NULL OR fence = %(fence)s)
  AND (%(batch)s::bigint IS NULL OR batch = %(batch)s - 1) AND NOT state = ANY (%(closed)s)
RETURNING seq
"""


def append(
    job: Job, rows: Sequence[Row], *, attempt: int, fence: int | None = None, batch: int | None = None
) -> int | None:
    """Add events to a job that has not ended; with `fence` and `batch`, only if both are the ones expected.

    Returns the number of the last event, or None when nothing was written.
    """
    values: dict[str, Any] = {
        "job": job.id,
        "count": len(rows),
        "fence": fence,
        "batch": batch,
        "closed": list(TERMINAL),
    }
    with connections[current_alias()].cursor() as cursor:
        cursor.execute(_TAKE, values)
        taken = cursor.fetchone()
    if taken is None:
        return None
    _insert(job, rows, attempt=attempt, last=taken[0])
    return int(taken[0])


def change_state(
    job: Job,
    to: JobState,
    *,
    since: Iterable[JobState] | None = None,
    if_fence: int | None = None,
    also: Sequence[Row] = (),
    **values: Any,
) -> bool:
    """Enter `to` if the job is in one of `since` (default: wherever that is lawful) and has the fence.

    `values` are further columns; `also` are events after that of the new state. False means somebody was first.
    """
    lawful = set(may_become(to))
    allowed = lawful & set(since) if since is not None else lawful
    rows: list[Row] = [("state", {"state": to.value}), *also]
    row = Job.objects.filter(id=job.id, state__in=allowed)
    if if_fence is not None:
        row = row.filter(fence=if_fence)
    if to in TERMINAL:
        values = {"ended_at": Now(), **values}
    if not row.update(state=to, state_at=Now(), **values):
        return False
    _after_state(job, rows)
    return True


def _after_state(job: Job, rows: Sequence[Row]) -> None:
    """Number and insert events; the row is ours already, by the update just made."""
    with connections[current_alias()].cursor() as cursor:
        cursor.execute(
            "UPDATE jobs_job SET seq = seq + %s WHERE id = %s RETURNING seq, attempts_made, state",
            [len(rows), job.id],
        )
        last, attempt, state = cursor.fetchone()
    _insert(job, rows, attempt=attempt, last=last)
    JobChanged.tell(job, state=state)


def begin(job: Job) -> None:
    """The first event of a job that was just written."""
    _after_state(job, [("state", {"state": job.state})])


def _insert(job: Job, rows: Sequence[Row], *, attempt: int, last: int) -> None:
    first = last - len(rows) + 1
    JobEvent.objects.bulk_create(
        JobEvent(
            job_id=job.id,
            seq=first + index,
            org_id=job.org_id,
            project_id=job.project_id,
            kind=kind,
            attempt=attempt,
            time=Now(),
            data=data,
        )
        for index, (kind, data) in enumerate(rows)
    )


def read(job_id: UUID, *, after: int, limit: int) -> list[dict[str, Any]]:
    """Events numbered above `after`, oldest first, as the interface shows them."""
    rows = JobEvent.objects.filter(job_id=job_id, seq__gt=after).order_by("seq")[:limit]
    return [
        {"seq": row.seq, "kind": row.kind, "attempt": row.attempt, "time": row.time.isoformat(), "data": row.data}
        for row in rows
    ]
