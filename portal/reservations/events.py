"""What happens to reservations."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from portal.events import Event


@dataclass(frozen=True, slots=True)
class ReservationChanged(Event):
    """A slice was booked, cancelled, or its time is over."""

    project_id: UUID
    reservation_id: UUID
    state: str

    def hints(self) -> Iterable[tuple[str, dict[str, Any]]]:
        yield f"project:{self.project_id}", {"kind": "reservation", "id": str(self.reservation_id), "state": self.state}
