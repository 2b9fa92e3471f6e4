"""The register of workers: who is alive, how many attempts each takes, when it was last heard of. System role only."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from portal.jobs.models import Worker
from portal.tenancy import context

ALIVE_FOR = timedelta(seconds=15)
FORGOTTEN_AFTER = timedelta(days=1)


def announce(*, worker_id: UUID, name: str, slots: int, engine_release: str, isolation: str) -> None:
    """A worker has started."""
    with context(role="system"):
        Worker.objects.filter(heartbeat_at__lt=Now() - FORGOTTEN_AFTER).delete()
        Worker.objects.filter(name=name).exclude(id=worker_id).update(slots=0, draining=True)
        Worker.objects.update_or_create(
            id=worker_id,
            defaults={
                "name": name, "slots": slots, "engine_release": engine_release, "isolation": isolation,
                "started_at": Now(), "heartbeat_at": Now(), "draining": False,
            },
        )  # fmt: skip


def beat(worker_id: UUID) -> None:
    """It is still alive."""
    with context(role="system"):
        Worker.objects.filter(id=worker_id).update(heartbeat_at=Now())


def drain(*, draining: bool = True) -> int:
    """All live workers take no new jobs and hand back those they run, or take jobs again. Returns how many live."""
    with context(role="system"):
        live = Worker.objects.filter(heartbeat_at__gte=Now() - ALIVE_FOR, slots__gt=0)
        return live.update(draining=draining)


def leave(worker_id: UUID) -> None:
    """It takes no more work."""
    with context(role="system"):
        Worker.objects.filter(id=worker_id).update(draining=True)


def wrong() -> str:
    """For the readiness page: empty when a worker is alive."""
    with context(role="system"):
        return "" if alive().exists() else "no worker was heard of in the last quarter of a minute"


def alive() -> QuerySet[Worker]:
    """Workers that were heard of lately and take work; needs an open system context."""
    return Worker.objects.filter(heartbeat_at__gte=Now() - ALIVE_FOR, draining=False)
