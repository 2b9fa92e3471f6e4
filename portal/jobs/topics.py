"""How sockets follow a job: who may, and its events after a number."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from portal.jobs import story
from portal.jobs.models import Job
from portal.live import register_topic
from portal.tenancy import Actor


def register() -> None:
    """Called once, when the app is ready."""
    register_topic("job", authorise=_may_follow, read=_read)


def _may_follow(actor: Actor | None, identifier: str) -> bool:
    job_id = _uuid(identifier)
    if actor is None or job_id is None or not actor.has_scope("jobs:read"):
        return False
    return Job.objects.visible_to(actor).filter(id=job_id).exists()


def _read(identifier: str, after: int, limit: int) -> list[dict[str, Any]]:
    job_id = _uuid(identifier)
    return [] if job_id is None else story.read(job_id, after=after, limit=limit)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
