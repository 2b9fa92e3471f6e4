"""Registers the reservations app, and tells pods which occupied ranges are whose slices."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.apps import AppConfig

from portal.tenancy import Actor


class ReservationsConfig(AppConfig):
    name = "portal.reservations"
    label = "reservations"

    def ready(self) -> None:
        from portal.pods.owners import register_owner

        register_owner("reservation", _own)


def _own(actor: Actor, occupancy_ids: Collection[UUID]) -> Mapping[UUID, UUID]:
    from portal.reservations.models import Reservation

    rows = Reservation.objects.visible_to(actor).filter(occupancy_id__in=occupancy_ids)
    return {occupancy: reservation for occupancy, reservation in rows.values_list("occupancy_id", "id") if occupancy}
