"""What happens to organizations."""

from dataclasses import dataclass
from uuid import UUID

from django.dispatch import Signal

from portal.events import Event

# Sent inside the transaction that makes an organization, so that what must exist with it (a wallet) does.
organization_created = Signal()


@dataclass(frozen=True, slots=True)
class MembershipChanged(Event):
    """Somebody joined, left or got another role. Sockets look again at their next check."""

    org_id: UUID
    user_id: UUID
