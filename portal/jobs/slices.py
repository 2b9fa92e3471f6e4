"""Where a job runs: on a reserved slice, one job at a time, or on demand on IPUs that it occupies while it runs.

It decides nothing about people or money; `pods` and `reservations` hold the facts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from portal.errors import PodiumError
from portal.jobs.models import Job
from portal.jobs.states import HOLDS_SLICE, JobState
from portal.organizations.models import Project
from portal.pods import services as pods
from portal.pods.models import Occupancy, Pod
from portal.reservations.models import Reservation
from portal.tenancy import Actor

TRY_AGAIN = timedelta(seconds=3)
_OVER = {"ended": "has ended", "cancelled": "was cancelled"}
SLACK = timedelta(seconds=60)  # booked beyond the limit of time, for starting and ending


@dataclass(frozen=True)
class Place:
    """What a request resolves to: the system and how many of its IPUs."""

    pod_id: UUID
    system: str
    ipus: int


@dataclass(frozen=True)
class Decision:
    """Of the scheduler: taken (no code), wait (a code and for how long), or the slice is gone for good."""

    booking_id: UUID | None = None
    code: str = ""
    message: str = ""
    wait: timedelta = TRY_AGAIN
    gone: bool = False


def place_for(
    actor: Actor,
    config: Mapping[str, Any],
    *,
    reservation_id: UUID | None,
    project: Project,
    must_be_active: bool = True,
) -> Place:
    """The slice that settings ask for. Refuses a reservation that has not begun, is over or has too few IPUs."""
    if reservation_id is None:
        return _on_demand(config)
    row = Reservation.objects.visible_to(actor).filter(id=reservation_id, org_id=project.org_id).first()
    if row is None:
        raise _refusal(
            "reservation.unknown", "There is no such reservation here: choose one of yours, or run on demand."
        )
    state = row.state_at(timezone.now())
    if state == "booked" and must_be_active:
        raise _refusal(
            "reservation.not_active_yet",
            f"The reservation begins at {row.starts_at:%Y-%m-%d %H:%M} UTC: launch then, or run on demand now.",
            starts_at=row.starts_at.isoformat(),
        )
    if state in {"ended", "cancelled"}:
        raise _refusal("reservation.expired", f"The reservation {_OVER[state]}: reserve again, or run on demand.")
    wanted = config["ipus"] or row.ipus
    if wanted > row.ipus:
        raise _refusal(
            "reservation.too_small",
            f"The run asks for {wanted} IPUs and the reservation has {row.ipus}: ask for {row.ipus}, or reserve more.",
            wanted=wanted,
            ipus=row.ipus,
        )
    if wanted < row.ipus:
        raise _invalid("ipus", f"Replicas fill the slice: leave this out, or set it to {row.ipus}.")
    return Place(row.pod_id, row.pod.system, row.ipus)


def _on_demand(config: Mapping[str, Any]) -> Place:
    pod = Pod.objects.filter(system=config["system"]).order_by("slug").first()
    if pod is None:
        known = ", ".join(Pod.objects.order_by("ipus", "slug").values_list("system", flat=True))
        raise _invalid("system", f"There is no system {config['system']!r:.60} here. There are: {known}.")
    sizes = pods.allowed_sizes(pod)
    ipus = config["ipus"] or pod.ipus
    if ipus not in sizes:
        raise _invalid("ipus", f"A slice of {pod.name} has {', '.join(map(str, sizes))} IPUs: choose one of these.")
    return Place(pod.id, pod.system, ipus)


def take(job: Job) -> Decision:
    """Take the slice of a queued job for an attempt, in the system role."""
    return _take_reserved(job) if job.reservation_id else _take_on_demand(job)


def _take_reserved(job: Job) -> Decision:
    assert job.reservation_id is not None
    row = Reservation.objects.get(id=job.reservation_id)
    state = row.state_at(timezone.now())
    if state in {"ended", "cancelled"}:
        return Decision(
            code="reservation.expired", message=f"The reservation {_OVER[state]} before the job began.", gone=True
        )
    if state == "booked":
        return Decision(code="reservation.not_active_yet", wait=max(TRY_AGAIN, row.starts_at - timezone.now()))
    if Job.objects.filter(reservation_id=row.id, state__in=HOLDS_SLICE).exists():
        return Decision(code="reservation.busy", wait=timedelta(seconds=1))
    return Decision()


def _take_on_demand(job: Job) -> Decision:
    now = timezone.now()
    try:
        booked = pods.book(
            pod_id=job.pod_id, ipus=job.ipus, starts_at=now, ends_at=now + timedelta(seconds=job.wall_seconds) + SLACK,
            kind=Occupancy.Kind.JOB,
        )  # fmt: skip
    except pods.NoRoom:
        return Decision(code="pod.full")
    return Decision(booking_id=booked.id)


def release(job: Job) -> None:
    """Give back what an on-demand job occupies, from now on."""
    booking_id = Job.objects.values_list("booking_id", flat=True).get(id=job.id)
    if booking_id is not None:
        pods.release(occupancy_id=booking_id, at=timezone.now())


def own(actor: Actor, occupancy_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
    """{occupancy: job} for occupied ranges of jobs that the actor may see."""
    rows = Job.objects.visible_to(actor).filter(booking_id__in=occupancy_ids)
    return {booking: job for booking, job in rows.values_list("booking_id", "id") if booking is not None}


def jobs_past_their_reservation() -> list[UUID]:
    """Jobs that run on a slice whose time is over, in the system role."""
    running = Job.objects.filter(state__in=[JobState.COMPILING, JobState.RUNNING], reservation_id__isnull=False)
    over = Reservation.objects.filter(id__in=running.values("reservation_id")).filter(
        Q(ends_at__lte=timezone.now()) | ~Q(state=Reservation.State.BOOKED)
    )
    return list(running.filter(reservation_id__in=over.values("id")).values_list("id", flat=True))


def _refusal(code: str, message: str, **params: Any) -> PodiumError:
    return PodiumError(code, message, status=422, params=params, fields={"reservation_id": (code, message)})


def _invalid(field: str, message: str) -> PodiumError:
    return PodiumError(
        "config.invalid",
        message,
        status=422,
        params={"field": field},
        fields={f"config.{field}": ("config.invalid", message)},
    )
