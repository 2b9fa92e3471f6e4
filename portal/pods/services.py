"""Verbs on occupancy: book IPUs for a time, set them free. Who pays and why is not known here."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange, NumericRange

import simulator
from portal import tenancy
from portal.errors import NotFound, PodiumError
from portal.events import publish
from portal.pods import partitions
from portal.pods.events import OccupancyChanged
from portal.pods.models import Occupancy, Pod
from portal.pods.prices import microcredits_per_ipu_hour

__all__ = ["HORIZON", "Kind", "NoRoom", "allowed_sizes", "book", "microcredits_per_ipu_hour", "release", "shape"]

HORIZON = timedelta(days=14)
Kind = Occupancy.Kind


class NoRoom(PodiumError):
    """The IPUs are taken at that time."""


def allowed_sizes(pod: Pod) -> list[int]:
    """Sizes that a partition of the pod may have, smallest first."""
    return [int(size) for size in simulator.system(pod.system).to_dict()["allowed_sizes"] if size <= pod.ipus]


def book(
    *, pod_id: UUID, ipus: int, starts_at: datetime, ends_at: datetime, kind: Kind, ipu_start: int | None = None
) -> Occupancy:
    """Occupy IPUs of the pod: at `ipu_start`, else at the first free aligned place.

    Refused with `reservation.size_not_allowed` (422), `reservation.not_aligned` (422), or `reservation.overlap`
    (409), whose params hold the conflicts and when it would next be free.
    """
    with tenancy.atomic():
        # One booking of a pod at a time, so that the first free place is still free when it is written.
        pod = Pod.objects.select_for_update(no_key=True).filter(id=pod_id).first()
        if pod is None:
            raise NotFound
        _check(pod, ipus, ipu_start)
        taken = _overlapping(pod, starts_at, ends_at)
        start = _place(pod, ipus, ipu_start, taken)
        if start is None:
            raise _no_room(pod, ipus, starts_at, ends_at, ipu_start, taken)
        booked = Occupancy.objects.create(
            pod=pod,
            ipu_range=NumericRange(start, start + ipus),
            during=DateTimeTZRange(starts_at, ends_at),
            kind=kind,
        )
        publish(OccupancyChanged(pod.id))
        return booked


def release(*, occupancy_id: UUID, at: datetime) -> None:
    """End an occupancy early: it is shortened to `at`, or goes when it has not begun. Twice is once."""
    with tenancy.atomic():
        row = Occupancy.objects.select_for_update().filter(id=occupancy_id).first()
        if row is None or row.during.upper <= at:
            return
        if at <= row.during.lower:
            row.delete()
        else:
            row.during = DateTimeTZRange(row.during.lower, at)
            row.save(update_fields=["during"])
        publish(OccupancyChanged(row.pod_id))


def _check(pod: Pod, ipus: int, ipu_start: int | None) -> None:
    sizes = allowed_sizes(pod)
    if ipus not in sizes:
        raise PodiumError(
            "reservation.size_not_allowed",
            f"A slice of {pod.name} has {', '.join(map(str, sizes))} IPUs, not {ipus}: choose one of these.",
            status=422,
            params={"allowed_sizes": sizes},
        )
    if ipu_start is not None and not partitions.is_legal(ipu_start, ipus, pod.ipus):
        raise PodiumError(
            "reservation.not_aligned",
            f"A slice of {ipus} IPUs starts at a multiple of {ipus} and ends within {pod.name}: choose another start.",
            status=422,
            params={"ipus": ipus, "pod_ipus": pod.ipus},
        )


def _overlapping(pod: Pod, starts_at: datetime, ends_at: datetime) -> list[Occupancy]:
    rows = Occupancy.objects.filter(pod=pod, during__overlap=DateTimeTZRange(starts_at, ends_at))
    return list(rows.order_by("during", "ipu_range"))


def _place(pod: Pod, ipus: int, ipu_start: int | None, taken: list[Occupancy]) -> int | None:
    ranges = [(row.ipu_range.lower, row.ipu_range.upper) for row in taken]
    if ipu_start is None:
        return partitions.first_free(pod.ipus, ipus, ranges)
    return None if any(low < ipu_start + ipus and ipu_start < high for low, high in ranges) else ipu_start


def _no_room(
    pod: Pod, ipus: int, starts_at: datetime, ends_at: datetime, ipu_start: int | None, taken: list[Occupancy]
) -> NoRoom:
    wanted = range(ipu_start, ipu_start + ipus) if ipu_start is not None else range(pod.ipus)
    conflicts = [row for row in taken if row.ipu_range.lower < wanted.stop and wanted.start < row.ipu_range.upper][:20]
    free = _next_free(pod, ipus, starts_at, ends_at - starts_at, ipu_start)
    return NoRoom(
        "reservation.overlap",
        "These IPUs are taken at that time"
        + (f"; the same length is free from {free:%Y-%m-%d %H:%M} UTC." if free else ": choose another time or fewer."),
        status=409,
        params={"conflicts": [shape(row) for row in conflicts], "next_free": free.isoformat() if free else None},
    )


def _next_free(pod: Pod, ipus: int, after: datetime, length: timedelta, ipu_start: int | None) -> datetime | None:
    """The earliest end of an occupancy from which the same length fits, within two weeks."""
    rows = _overlapping(pod, after, after + HORIZON + length)
    for begin in sorted({row.during.upper for row in rows}):
        if begin > after + HORIZON:
            return None
        clash = [row for row in rows if row.during.lower < begin + length and begin < row.during.upper]
        if begin > after and _place(pod, ipus, ipu_start, clash) is not None:
            return begin
    return None


def shape(row: Occupancy) -> dict[str, Any]:
    """{ipu_start, ipus, starts_at, ends_at} as JSON values; nothing of its owner."""
    return {
        "ipu_start": row.ipu_range.lower,
        "ipus": row.ipu_range.upper - row.ipu_range.lower,
        "starts_at": row.during.lower.isoformat(),
        "ends_at": row.during.upper.isoformat(),
    }
