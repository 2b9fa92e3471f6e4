"""What happens to models."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from portal.events import Event


@dataclass(frozen=True, slots=True)
class ModelChanged(Event):
    """A model was uploaded, accepted, refused or deleted."""

    project_id: UUID
    model_id: UUID
    state: str

    def hints(self) -> Iterable[tuple[str, dict[str, Any]]]:
        yield f"project:{self.project_id}", {"kind": "model", "id": str(self.model_id), "state": self.state}
