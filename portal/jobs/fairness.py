"""Whose job is next: the organization that has used least of the workers' slots, and in it the person who has.

Use is counted in slot-seconds, worth half after each half-life. Every organization that uses Podium aims at the same
share, and so does each person within it. Which slot is free and which slice is taken is decided elsewhere.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import connections
from django.db.models import Window
from django.db.models.functions import Now, RowNumber

from portal.jobs.models import Attempt, Job
from portal.jobs.states import AttemptState, JobState
from portal.tenancy import current_alias, uuid7

TURN = 30.0  # slot-seconds that a job just handed out counts for at once, so that one round alternates
LOOKED_AT = 50  # of one person's waiting jobs, in one round
_WORTH = "power(0.5, extract(epoch FROM now() - as_of) / %(half)s)"
_CHARGE = """
INSERT INTO jobs_usage AS u (id, org_id, user_id, slot_seconds, as_of)
SELECT %(id)s, a.org_id, %(user)s, extract(epoch FROM a.ended_at - a.claimed_at), now()
FROM jobs_attempt a WHERE a.id = %(attempt)s AND a.claimed_at IS NOT NULL
ON CONFLICT (org_id, user_id) DO UPDATE SET as_of = excluded.as_of, slot_seconds = excluded.slot_seconds
    + u.slot_seconds * power(0.5, extract(epoch FROM excluded.as_of - u.as_of) / %(half)s)
"""
_STANDING = f"""
SELECT org_id, user_id, slot_seconds * {_WORTH}, 0 FROM jobs_usage
UNION ALL
SELECT a.org_id, j.created_by_id, extract(epoch FROM now() - coalesce(a.claimed_at, a.dispatched_at)), 1
FROM jobs_attempt a JOIN jobs_job j ON j.id = a.job_id WHERE a.state IN ('dispatched', 'running')
"""  # noqa: S608 - no value of anybody's


class Waiting(NamedTuple):
    """A queued job that is due, as far as its order matters."""

    id: UUID
    org_id: UUID
    user_id: UUID
    pod_id: UUID
    ipus: int  # on demand; 0 on a slice, which is there already


@dataclass
class Standing:
    """What everybody has used and runs now, by organization and by (organization, person)."""

    used: dict[object, float] = field(default_factory=lambda: defaultdict(float))
    running: dict[object, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, org_id: UUID, user_id: UUID, seconds: float, running: int = 0) -> None:
        for key in (org_id, (org_id, user_id)):
            self.used[key] += seconds + running * TURN
            self.running[key] += running

    def limit_reached(self, job: Waiting) -> str:
        """The code of the limit that keeps this job waiting, or nothing."""
        limits = (
            ("limit.person", (job.org_id, job.user_id), settings.PODIUM_PERSON_SLOTS),
            ("limit.organization", job.org_id, settings.PODIUM_ORGANIZATION_SLOTS),
        )
        return next((code for code, key, most in limits if most and self.running[key] >= most), "")


def charge(job: Job, attempt_id: UUID) -> None:
    """Count what an attempt that has just ended took of a slot. What our side lost is not counted."""
    values: dict[str, Any] = {
        "id": uuid7(), "user": job.created_by_id, "attempt": attempt_id,
        "half": settings.PODIUM_USAGE_HALF_LIFE_SECONDS,
    }  # fmt: skip
    with connections[current_alias()].cursor() as cursor:
        cursor.execute(_CHARGE, values)


def standing() -> Standing:
    """As it is now."""
    found = Standing()
    with connections[current_alias()].cursor() as cursor:
        cursor.execute(_STANDING, {"half": settings.PODIUM_USAGE_HALF_LIFE_SECONDS})
        for org_id, user_id, seconds, running in cursor.fetchall():
            found.add(org_id, user_id, float(seconds), running)
    return found


def due() -> list[Waiting]:
    """Jobs that could be handed out now: of each person those that gave way least, then the oldest."""
    rows = Job.objects.filter(state=JobState.QUEUED, due_at__lte=Now())
    place = Window(RowNumber(), partition_by=["org_id", "created_by_id"], order_by=["turns", "id"])
    found = rows.annotate(place=place).filter(place__lte=LOOKED_AT).order_by("turns", "id")
    columns = found.values_list("id", "org_id", "created_by_id", "pod_id", "ipus", "reservation_id")
    return [Waiting(*row[:4], ipus=0 if row[5] else row[4]) for row in columns]


def in_order(waiting: Iterable[Waiting], now: Standing) -> Iterator[Waiting]:
    """Who is next, one by one. Each one counts against its owner before the next is chosen; `now` is left alone."""
    queues: dict[UUID, dict[UUID, deque[Waiting]]] = {}
    for job in waiting:
        queues.setdefault(job.org_id, {}).setdefault(job.user_id, deque()).append(job)
    used = dict(now.used)
    while queues:
        org_id = min(queues, key=lambda org: (used.get(org, 0.0), min(q[0].id for q in queues[org].values())))
        people = queues[org_id]
        user_id = min(people, key=lambda user: (used.get((org_id, user), 0.0), people[user][0].id))
        yield people[user_id].popleft()
        for key in (org_id, (org_id, user_id)):
            used[key] = used.get(key, 0.0) + TURN
        if not people[user_id]:
            del people[user_id]
        if not people:
            del queues[org_id]


def ask_for_a_turn(waiting: int) -> int:
    """Ask training runs that have had their turn to give way, as many as jobs wait; they go on later."""
    open_ = Attempt.objects.filter(state=AttemptState.RUNNING)
    wanted = waiting - open_.exclude(hand_back="").count()
    if wanted <= 0 or not settings.PODIUM_TURN_SECONDS:
        return 0
    longest = open_.filter(
        hand_back="", job__task="train", job__state=JobState.RUNNING, job__checkpoints__isnull=False,
        claimed_at__lt=Now() - timedelta(seconds=settings.PODIUM_TURN_SECONDS),
    ).order_by("claimed_at")  # fmt: skip
    chosen = list(longest.values_list("id", flat=True).distinct()[:wanted])
    return open_.filter(id__in=chosen).update(hand_back="turn")


@dataclass(frozen=True)
class Share:
    """What one organization, or one person in it, has of all use, and what it aims at."""

    org_id: UUID
    user_id: UUID | None
    slot_seconds: float
    running: int
    share: float
    aims_at: float


def shares(now: Standing) -> list[Share]:
    """Every organization that used or runs something, most used first."""
    orgs = [key for key in now.used if isinstance(key, UUID)]
    return _shares(now, {(org, None): org for org in orgs})


def shares_within(now: Standing, org_id: UUID) -> list[Share]:
    """The people of one organization that used or run something."""
    keys = [key for key in now.used if isinstance(key, tuple) and key[0] == org_id]
    return _shares(now, {key: key for key in keys})


def _shares(now: Standing, keys: dict[tuple[UUID, UUID | None], object]) -> list[Share]:
    total = sum(now.used[key] for key in keys.values())
    found = [
        Share(org, user, now.used[key], now.running[key], now.used[key] / total if total else 0.0, 1 / len(keys))
        for (org, user), key in keys.items()
    ]
    return sorted(found, key=lambda share: -share.slot_seconds)
