"""Verbs on tokens: make, rotate, revoke. What one may do is fixed when it is made, and never more than its person."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from portal import tenancy
from portal.audit import services as audit
from portal.errors import NotFound, PodiumError
from portal.organizations.access import require
from portal.organizations.models import Project
from portal.tenancy import Actor, Role
from portal.tokens import networks as nets
from portal.tokens import secret as secrets
from portal.tokens.models import MOST_DAYS, Token, TokenPolicy
from portal.tokens.scopes import SCOPES

MOST_ALIVE = 100
LONGEST_OVERLAP_HOURS = 7 * 24


def create(
    *,
    actor: Actor,
    name: str,
    scopes: Collection[str],
    expires_in_days: int,
    org_id: UUID,
    project_id: UUID | None = None,
    networks: Collection[str] = (),
    client: str = "",
) -> tuple[Token, str]:
    """A new token and its secret, which is told this once.

    Any member may make one; it can never do more than they can.
    """
    require(actor, org_id, Role.VIEWER)
    check_scopes(scopes)
    check_place(org_id=org_id, project_id=project_id, days=expires_in_days)
    now = timezone.now()
    with tenancy.atomic():
        mine = Token.objects.filter(user_id=actor.user_id, org_id=org_id, revoked_at=None, expires_at__gt=now)
        if mine.count() >= MOST_ALIVE:
            raise PodiumError("token.too_many", f"You have {MOST_ALIVE} live tokens: revoke one first.", status=409)
        token, secret = _make(
            Token(
                org_id=org_id,
                project_id=project_id,
                user_id=actor.user_id,
                name=name,
                scopes=sorted(set(scopes)),
                networks=nets.normal(networks),
                client=client,
                expires_at=now + timedelta(days=expires_in_days),
            )
        )
        _tell("token.created", actor, token, after=_rights(token))
    return token, secret


def rotate(*, actor: Actor, token_id: UUID, overlap_hours: int) -> tuple[Token, str]:
    """A successor with the same rights and as long a life; the old one ends after the overlap. For its person alone."""
    with tenancy.atomic():
        old, now = _locked(actor, token_id), timezone.now()
        if old.user_id != actor.user_id:
            text = "Only the person of a token can rotate it: revoke it instead."
            raise PodiumError("token.not_yours", text, status=403)
        if old.revoked_at or old.expires_at <= now or old.replaced_by_id:
            text = "This token has ended or has been rotated already: make a new one."
            raise PodiumError("token.ended", text, status=409)
        longest = timedelta(days=_most_days(old.org_id))
        successor = Token(
            org_id=old.org_id,
            project_id=old.project_id,
            user_id=old.user_id,
            name=old.name,
            scopes=old.scopes,
            networks=old.networks,
            client=old.client,
            expires_at=now + min(old.expires_at - old.created_at, longest),
        )
        token, secret = _make(successor)
        old.replaced_by_id = token.id
        old.expires_at = min(old.expires_at, now + timedelta(hours=overlap_hours))
        old.save(update_fields=["replaced_by_id", "expires_at"])
        _tell("token.rotated", actor, old, after={"successor": token.id, "expires_at": old.expires_at})
    return token, secret


def revoke(*, actor: Actor, token_id: UUID) -> None:
    """End a token for good: one's own, or any of the organization for its admins."""
    with tenancy.atomic():
        token = _locked(actor, token_id)
        if token.user_id != actor.user_id:
            require(actor, token.org_id, Role.ADMIN)
        if token.revoked_at is None:
            _end(actor, token)


def revoke_all(*, actor: Actor, org_id: UUID | None, of_everybody: bool = False) -> int:
    """End all of one's own tokens (of one organization or of all), or everybody's of an organization for its admins."""
    if org_id:
        require(actor, org_id, Role.ADMIN if of_everybody else Role.VIEWER)
    elif of_everybody:
        text = "Name the organization."
        raise PodiumError("request.invalid", text, status=422, fields={"organization_id": ("required", text)})
    with tenancy.atomic():
        live = Token.objects.filter(org_id__in=[org_id] if org_id else actor.org_ids, revoked_at=None)
        live = live.filter(expires_at__gt=timezone.now())
        live = live if of_everybody else live.filter(user_id=actor.user_id)
        ended = list(live.order_by("id").select_for_update())
        for token in ended:
            _end(actor, token)
    return len(ended)


def set_policy(*, actor: Actor, org_id: UUID, most_days: int) -> int:
    """How long the organization's tokens may live from now on; those that exist keep their end."""
    require(actor, org_id, Role.ADMIN)
    with tenancy.atomic():
        before = _most_days(org_id)
        TokenPolicy.objects.update_or_create(org_id=org_id, defaults={"most_days": most_days})
        audit.record(
            "token_policy.changed",
            actor=actor,
            org_id=org_id,
            target_id=org_id,
            before={"most_days": before},
            after={"most_days": most_days},
        )
    return most_days


def most_days(*, actor: Actor, org_id: UUID) -> int:
    """The organization's limit."""
    require(actor, org_id, Role.VIEWER)
    return _most_days(org_id)


def check_scopes(scopes: Collection[str]) -> None:
    """Refuse scopes that do not exist."""
    unknown = sorted(set(scopes) - set(SCOPES))
    if unknown:
        raise PodiumError(
            "token.unknown_scope",
            f"There is no scope {', '.join(unknown)}: choose from {', '.join(SCOPES)}.",
            status=422,
            params={"scopes": list(SCOPES)},
            fields={"scopes": ("unknown_scope", f"No such scope: {', '.join(unknown)}.")},
        )


def check_place(*, org_id: UUID, project_id: UUID | None, days: int) -> None:
    """Refuse a project that is not the organization's, and a longer life than the organization allows."""
    if project_id and not Project.objects.filter(id=project_id, org_id=org_id).exists():
        raise NotFound
    limit = _most_days(org_id)
    if not 1 <= days <= limit:
        text = f"Tokens of this organization live for {limit} days at most: choose fewer."
        raise PodiumError(
            "token.too_long",
            text,
            status=422,
            params={"most_days": limit},
            fields={"expires_in_days": ("token.too_long", text)},
        )


def _most_days(org_id: UUID) -> int:
    return TokenPolicy.objects.filter(org_id=org_id).values_list("most_days", flat=True).first() or MOST_DAYS


def _make(token: Token) -> tuple[Token, str]:
    secret = secrets.make()
    token.prefix, token.digest = secret[:12], secrets.digest(secret)
    token.save(force_insert=True)
    return token, secret


def _locked(actor: Actor, token_id: UUID) -> Token:
    token: Token | None = Token.objects.visible_to(actor).filter(id=token_id).select_for_update().first()
    if token is None:
        raise NotFound
    return token


def _end(actor: Actor, token: Token) -> None:
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    _tell("token.revoked", actor, token)


def _rights(token: Token) -> dict[str, object]:
    return {name: getattr(token, name) for name in ("scopes", "networks", "project_id", "expires_at", "client")}


def _tell(action: str, actor: Actor, token: Token, after: dict[str, object] | None = None) -> None:
    other = None if token.user_id == actor.user_id else token.user_id
    audit.record_of(token, action, actor=actor, label=token.name, after=after, on_behalf_of=other)
