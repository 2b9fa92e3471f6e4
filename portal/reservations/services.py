"""Verbs on reservations: reserve, cancel, settle. The price is held when booked and captured when the time is over."""

from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from portal import tenancy
from portal.audit import services as audit
from portal.credits import services as credits
from portal.errors import NotFound, PodiumError
from portal.events import publish
from portal.organizations.access import project_for, require
from portal.pods import services as pods
from portal.pods.models import Occupancy
from portal.pods.prices import price
from portal.reservations.events import ReservationChanged
from portal.reservations.models import Reservation
from portal.tenancy import Actor, Role, uuid7

SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=7)
AHEAD = timedelta(days=365)
# A form that was filled in for "now" arrives a little later.
LATE = timedelta(minutes=5)
State = Reservation.State


def reserve(
    *,
    actor: Actor,
    pod_id: UUID,
    ipus: int,
    starts_at: datetime,
    ends_at: datetime,
    zone: str,
    project_id: UUID | None = None,
    ipu_start: int | None = None,
) -> Reservation:
    """Book a slice and hold its price: wall-clock time of its IPUs.

    Refusals are those of `pods.book` and `credits.hold`.
    """
    _check_window(starts_at, ends_at)
    project = project_for(actor, project_id)
    with tenancy.atomic():
        booked = pods.book(
            pod_id=pod_id,
            ipus=ipus,
            starts_at=starts_at,
            ends_at=ends_at,
            kind=Occupancy.Kind.RESERVATION,
            ipu_start=ipu_start,
        )
        reservation_id = uuid7()
        cost = price(booked.pod.system, ipu_milliseconds=ipus * _milliseconds(ends_at - starts_at))
        held = credits.hold(
            org_id=project.org_id,
            project_id=project.id,
            amount=cost,
            purpose="reservation",
            reference_id=reservation_id,
            note=f"{ipus} IPUs of {booked.pod.name}",
        )
        row = Reservation.objects.create(
            id=reservation_id,
            org_id=project.org_id,
            project_id=project.id,
            pod=booked.pod,
            occupancy=booked,
            ipu_start=booked.ipu_range.lower,
            ipus=ipus,
            starts_at=starts_at,
            ends_at=ends_at,
            zone=zone,
            price_microcredits=cost,
            hold_id=held.id,
            created_by_id=actor.user_id,
        )
        facts = {"price_microcredits": cost, "starts_at": starts_at, "ends_at": ends_at}
        _tell("reservation.created", actor, row, facts)
        publish(ReservationChanged(row.project_id, row.id, row.state))
        return row


def cancel(*, actor: Actor, reservation_id: UUID) -> Reservation:
    """Give the slice back: before it begins all is refunded, afterwards the time that has passed is paid."""
    with tenancy.atomic():
        row = Reservation.objects.visible_to(actor).filter(id=reservation_id).select_for_update(of=["self"]).first()
        if row is None:
            raise NotFound
        require(actor, row.org_id, Role.MEMBER)
        now = timezone.now()
        if row.state != State.BOOKED or row.ends_at <= now:
            raise PodiumError(
                "reservation.over",
                f"This reservation is {row.state_at(now)} already, so there is nothing to cancel.",
                status=409,
                params={"state": row.state_at(now)},
            )
        used = max(timedelta(), now - row.starts_at)
        captured = price(row.pod.system, ipu_milliseconds=row.ipus * _milliseconds(used)) if used else 0
        credits.settle(hold_id=row.hold_id, captured=captured, note="Cancelled")
        occupancy_id, row.occupancy_id = row.occupancy_id, row.occupancy_id if used else None
        row.state = State.CANCELLED
        row.save(update_fields=["state", "occupancy"])
        if occupancy_id:
            pods.release(occupancy_id=occupancy_id, at=now)
        _tell("reservation.cancelled", actor, row, {"captured_microcredits": captured})
        publish(ReservationChanged(row.project_id, row.id, row.state))
        return row


def settle_due(*, now: datetime | None = None) -> int:
    """Capture the price of slices whose time is over. For the ticker; running twice settles once."""
    with tenancy.context(role="system"):
        due = Reservation.objects.filter(state=State.BOOKED, ends_at__lte=now or timezone.now())
        rows = list(due.order_by("ends_at").select_for_update(skip_locked=True)[:200])
        for row in rows:
            credits.settle(hold_id=row.hold_id, captured=row.price_microcredits, note="Time over")
            Reservation.objects.filter(id=row.id, state=State.BOOKED).update(state=State.ENDED)
            publish(ReservationChanged(row.project_id, row.id, State.ENDED))
    return len(rows)


def _tell(action: str, actor: Actor, row: Reservation, after: dict[str, object]) -> None:
    audit.record_of(row, action, actor=actor, label=f"{row.ipus} IPUs of {row.pod.name}", after=after)


def _check_window(starts_at: datetime, ends_at: datetime) -> None:
    now = timezone.now()
    if starts_at < now - LATE:
        _refuse("reservation.in_the_past", "The slice would begin in the past: choose a later start.", "starts_at")
    if starts_at > now + AHEAD:
        _refuse(
            "reservation.too_far_ahead",
            "Slices can be reserved for a year ahead: choose an earlier start.",
            "starts_at",
        )
    if ends_at - starts_at < SHORTEST:
        _refuse("reservation.too_short", "A slice lasts at least one minute: choose a later end.", "ends_at")
    if ends_at - starts_at > LONGEST:
        _refuse("reservation.too_long", "A slice lasts at most seven days: choose an earlier end.", "ends_at")


def _refuse(code: str, text: str, field: str) -> None:
    raise PodiumError(code, text, status=422, fields={field: (code, text)})


def _milliseconds(length: timedelta) -> int:
    """Whole milliseconds, rounded up."""
    return -(-length // timedelta(milliseconds=1))
