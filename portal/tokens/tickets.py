"""One-time tickets for sockets: good for half a minute, one path, the person and the session that fetched it."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from portal import tenancy
from portal.errors import PodiumError
from portal.tenancy import Actor
from portal.tokens.models import SocketTicket
from portal.tokens.secret import digest

LIFE = timedelta(seconds=30)
PATHS = ("/ws/v1",)


@dataclass(frozen=True, slots=True)
class Redeemed:
    """Whose ticket it was."""

    user_id: UUID
    session_key: str


def issue(*, actor: Actor, session_key: str, path: str) -> str:
    """A ticket for one socket at `path`; it is told this once."""
    if path not in PATHS:
        text = f"There is no socket at this path: name {' or '.join(PATHS)}."
        raise PodiumError("ticket.unknown_path", text, status=422, fields={"path": ("ticket.unknown_path", text)})
    ticket = secrets.token_urlsafe(32)
    with tenancy.context(role="system"):
        SocketTicket.objects.create(
            digest=digest(ticket, of="tickets"),
            user_id=actor.user_id,
            session_key=session_key,
            path=path,
            expires_at=timezone.now() + LIFE,
        )
    return ticket


def redeem(*, ticket: str, path: str) -> Redeemed | None:
    """Whose it is; None when it is unknown, too old, used already, or for another path. One of many at once wins."""
    now = timezone.now()
    with tenancy.context(role="system"):
        rows = SocketTicket.objects.filter(digest=digest(ticket, of="tickets"), path=path)
        if not rows.filter(used_at=None, expires_at__gt=now).update(used_at=now):
            return None
        return Redeemed(*rows.values_list("user_id", "session_key").get())


def expire() -> int:
    """Forget old ones. For the ticker."""
    with tenancy.context(role="system"):
        return SocketTicket.objects.filter(expires_at__lt=timezone.now() - LIFE).delete()[0]
