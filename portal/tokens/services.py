"""Verbs on tokens: make one, revoke it. What a token may do is fixed when it is made."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from portal import tenancy
from portal.errors import NotFound, PodiumError
from portal.organizations.access import require
from portal.organizations.models import Project
from portal.tenancy import Actor, Role
from portal.tokens import secret as secrets
from portal.tokens.models import Token
from portal.tokens.scopes import SCOPES

MOST_ALIVE = 100


def create(
    *,
    actor: Actor,
    name: str,
    scopes: Collection[str],
    expires_in_days: int,
    org_id: UUID,
    project_id: UUID | None = None,
) -> tuple[Token, str]:
    """A new token and its secret, which is told this once.

    Any member may make one; it can never do more than they can.
    """
    require(actor, org_id, Role.VIEWER)
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown:
        raise PodiumError(
            "token.unknown_scope",
            f"There is no scope {', '.join(unknown)}: choose from {', '.join(SCOPES)}.",
            status=422,
            params={"scopes": list(SCOPES)},
            fields={"scopes": ("unknown_scope", f"No such scope: {', '.join(unknown)}.")},
        )
    if project_id and not Project.objects.filter(id=project_id, org_id=org_id).exists():
        raise NotFound
    now = timezone.now()
    secret = secrets.make()
    with tenancy.atomic():
        mine = Token.objects.filter(user_id=actor.user_id, org_id=org_id, revoked_at=None, expires_at__gt=now)
        if mine.count() >= MOST_ALIVE:
            raise PodiumError("token.too_many", f"You have {MOST_ALIVE} live tokens: revoke one first.", status=409)
        token = Token.objects.create(
            org_id=org_id,
            project_id=project_id,
            user_id=actor.user_id,
            name=name,
            prefix=secret[:12],
            digest=secrets.digest(secret),
            scopes=sorted(set(scopes)),
            expires_at=now + timedelta(days=expires_in_days),
        )
    return token, secret


def revoke(*, actor: Actor, token_id: UUID) -> None:
    """End a token for good: one's own, or any of the organization for its admins."""
    with tenancy.atomic():
        token = Token.objects.visible_to(actor).filter(id=token_id).select_for_update().first()
        if token is None:
            raise NotFound
        if token.user_id != actor.user_id:
            require(actor, token.org_id, Role.ADMIN)
        if token.revoked_at is None:
            token.revoked_at = timezone.now()
            token.save(update_fields=["revoked_at"])
