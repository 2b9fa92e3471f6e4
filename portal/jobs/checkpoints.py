"""Checkpoints of running jobs: the newest one counts, older ones and those of ended jobs go, row and file.

Equal runs make equal files, so a file may be another job's too; a lock on its hash keeps making and removing apart.
"""

from __future__ import annotations

from django.db import connections
from django.db.models.functions import Now

from portal import storage
from portal.jobs.models import Artefact, Checkpoint, Job
from portal.registry.models import Model
from portal.tenancy import current_alias


def keep(job: Job, *, step: int, blob: storage.Blob) -> None:
    """Make this the job's checkpoint. The system role's transaction is open and the job is locked."""
    _lock(blob.sha256)
    if not storage.path(blob.sha256).exists():
        return  # an equal one was removed just now; the next will come
    older = list(Checkpoint.objects.filter(job=job))
    Checkpoint.objects.update_or_create(
        job=job,
        step=step,
        defaults={
            "org_id": job.org_id, "project_id": job.project_id, "attempt_number": job.attempts_made,
            "sha256": blob.sha256, "created_at": Now(),
        },
    )  # fmt: skip
    _remove([row for row in older if row.step != step])


def newest(job: Job) -> Checkpoint | None:
    """Where the job can go on from, if its file is still there."""
    rows = Checkpoint.objects.filter(job=job).order_by("-step")
    return next((row for row in rows if storage.path(row.sha256).exists()), None)


def drop(job: Job) -> None:
    """The job has ended and goes on no more."""
    _remove(list(Checkpoint.objects.filter(job=job)))


def _remove(rows: list[Checkpoint]) -> None:
    """Rows first, then files that nothing refers to; before the commit, while the lock holds."""
    for row in sorted(rows, key=lambda row: row.sha256):
        _lock(row.sha256)
        Checkpoint.objects.filter(id=row.id).delete()
        if not any(table.objects.filter(sha256=row.sha256).exists() for table in (Checkpoint, Artefact, Model)):
            storage.path(row.sha256).unlink(missing_ok=True)


def _lock(sha256: str) -> None:
    with connections[current_alias()].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(('x' || left(%s, 16))::bit(64)::bigint)", [sha256])
