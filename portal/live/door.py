"""What the socket asks of whoever knows people: who comes in, and whether those who are in may stay."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Protocol

from portal.tenancy import Actor


@dataclass(frozen=True, slots=True)
class Closing(Exception):
    """A socket must not be open: the code of the closing frame, and its reason."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Knock:
    """A handshake: its path, the bearer's secret or the ticket that it brings, and the peer's address."""

    path: str
    bearer: str | None
    ticket: str | None
    address: str | None


@dataclass(frozen=True, slots=True)
class Admission:
    """Who came in (None: signed out), and by what; `credential` is what is checked again."""

    actor: Actor | None = None
    credential: Hashable = None


class Door(Protocol):
    """Asked in a thread, outside of any tenancy."""

    def admit(self, knock: Knock) -> Admission:
        """Who knocks; raises `Closing` for a bearer or a ticket that is not good."""

    def recheck(self, credentials: Collection[Hashable]) -> Mapping[Hashable, Actor | Closing]:
        """All of a hub in one go: the reach that each has now, or why it ends."""
