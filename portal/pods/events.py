"""What happens to pods."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from portal.events import Event


@dataclass(frozen=True, slots=True)
class OccupancyChanged(Event):
    """IPUs of a pod were booked or set free."""

    pod_id: UUID

    def hints(self) -> Iterable[tuple[str, dict[str, Any]]]:
        yield f"pod:{self.pod_id}", {"kind": "occupancy"}
