"""What happens to boards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from portal.events import Event


@dataclass(frozen=True, slots=True)
class BoardChanged(Event):
    """A row came onto a board."""

    slug: str

    def hints(self) -> Iterable[tuple[str, dict[str, Any]]]:
        yield f"board:{self.slug}", {"kind": "entry"}
