"""The one way to write the log: inside the transaction of the verb, so that neither happens without the other."""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from portal.audit.models import Entry
from portal.audit.origin import current_origin
from portal.errors.request_id import current_request_id
from portal.tenancy import Actor

# A word of a field's name that must not stand in the log: a secret in it could never be taken out again.
SECRET_WORDS = ("password", "secret", "digest", "recovery", "ticket")


class Owned(Protocol):
    """A row of an organization, in one of its projects or in none."""

    id: Any
    org_id: Any
    project_id: Any


def record_of(
    row: Owned,
    action: str,
    *,
    actor: Actor,
    label: str,
    after: Mapping[str, Any] | None = None,
    on_behalf_of: UUID | None = None,
) -> None:
    """Write what was done to a tenant's row."""
    record(
        action,
        actor=actor,
        org_id=row.org_id,
        project_id=row.project_id,
        target_id=row.id,
        label=label,
        after=after,
        on_behalf_of=on_behalf_of,
    )


def record(
    action: str,
    *,
    actor: Actor | None,
    org_id: UUID | None = None,
    target_id: object = "",
    label: str = "",
    project_id: UUID | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    on_behalf_of: UUID | None = None,
) -> None:
    """Write that `actor` (None: the platform itself) did `action`, a noun and a verb such as token.created.

    `before` and `after` hold the fields that changed. The rest (address, program, request, token) is known here.
    """
    for facts in (before, after):
        told = [name for name in facts or () if any(word in name for word in SECRET_WORDS)]
        if told:
            raise ValueError(f"{', '.join(told)} must not stand in the audit log")
    origin, request_id = current_origin(), current_request_id()
    Entry.objects.create(
        org_id=org_id,
        project_id=project_id,
        actor_id=actor.user_id if actor else None,
        token_id=actor.token_id if actor else None,
        on_behalf_of_id=on_behalf_of,
        action=action,
        target_id=str(target_id),
        label=label[:120],
        before=before and dict(before),
        after=after and dict(after),
        address=origin.address,
        user_agent=origin.user_agent,
        request_id="" if request_id == "-" else request_id,
    )
