"""Device login (RFC 8628): a program without a browser shows a code, a person approves it, the program gets a token.

The rows belong to no tenant until then, so these verbs act as the system role; the token is made in the person's reach,
when the program comes for it, so that its secret is never stored.
"""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from django.db import connections
from django.utils import timezone

from portal import tenancy
from portal.audit import services as audit
from portal.errors import NotFound, PodiumError
from portal.organizations.access import actor_of, require
from portal.tenancy import Actor, Role
from portal.tokens import services
from portal.tokens.models import DeviceGuess, DeviceRequest, Token
from portal.tokens.secret import digest

LIFE = timedelta(minutes=10)
SLOWER_BY = 5
MOST_OPEN = 100  # of one address, behind which there may be a class
MOST_GUESSES = 10  # of one person, in the life of a code
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels, so no words: 20 to the power of 8 codes
State = DeviceRequest.State


class Waiting(StrEnum):
    """Why there is no token, in the words of the RFC."""

    PENDING = "authorization_pending"
    SLOW_DOWN = "slow_down"
    DENIED = "access_denied"
    EXPIRED = "expired_token"
    INVALID = "invalid_grant"


@dataclass(frozen=True, slots=True)
class Begun:
    """What the program is told; it shows `user_code`."""

    device_code: str
    user_code: str
    interval: int


def begin(*, client: str, scopes: Collection[str], address: str | None, user_agent: str) -> Begun:
    """A program asks to be let in."""
    services.check_scopes(scopes)
    device_code = secrets.token_urlsafe(32)
    user_code = "".join(secrets.choice(LETTERS) for _ in range(8))
    now = timezone.now()
    with tenancy.context(role="system"):
        if DeviceRequest.objects.filter(address=address, expires_at__gt=now, state=State.PENDING).count() >= MOST_OPEN:
            text = "Too many programs at your address wait to be let in: try again in ten minutes."
            raise PodiumError("device.too_many", text, status=429, params={"retry_after": int(LIFE.total_seconds())})
        row = DeviceRequest.objects.create(
            device_digest=digest(device_code, of="device:device"),
            code_digest=digest(user_code, of="device:code"),
            client=client,
            scopes=sorted(set(scopes)),
            address=address,
            user_agent=user_agent,
            expires_at=now + LIFE,
        )
    return Begun(device_code, f"{user_code[:4]}-{user_code[4:]}", row.interval)


def look(*, actor: Actor, user_code: str) -> DeviceRequest:
    """The request that shows this code. Wrong codes are counted, so that nobody can try them all."""
    with tenancy.context(role="system"):
        found = _find(actor, user_code)
    if found is None:
        raise NotFound
    return found


def decide(
    *, actor: Actor, user_code: str, approve: bool, org_id: UUID, project_id: UUID | None = None, days: int = 30
) -> None:
    """Let the program in, with exactly the scopes it asked for and the person was shown, or turn it away."""
    require(actor, org_id, Role.VIEWER)
    if approve:
        services.check_place(org_id=org_id, project_id=project_id, days=days)
    with tenancy.context(role="system"):
        row = _find(actor, user_code)
        changed = row and DeviceRequest.objects.filter(id=row.id, state=State.PENDING).update(
            state=State.APPROVED if approve else State.DENIED,
            user_id=actor.user_id,
            org_id=org_id,
            project_id=project_id,
            days=days,
        )
    if not row or not changed:
        raise NotFound
    audit.record(
        "device.approved" if approve else "device.denied",
        actor=actor,
        org_id=org_id,
        project_id=project_id,
        target_id=row.id,
        label=row.client,
        after={"scopes": row.scopes, "days": days, "address": row.address},
    )


def redeem(*, device_code: str) -> tuple[Token, str] | Waiting:
    """The program comes for its token: it gets it once, or is told to wait, to wait longer or to give up."""
    now = timezone.now()
    with tenancy.context(role="system"):
        rows = DeviceRequest.objects.filter(device_digest=digest(device_code, of="device:device"))
        row = rows.select_for_update().first()
        if row is None or row.state == State.REDEEMED:
            return Waiting.INVALID
        if row.expires_at <= now:
            return Waiting.EXPIRED
        hasty = row.polled_at is not None and now - row.polled_at < timedelta(seconds=row.interval)
        row.polled_at, row.interval = now, min(row.interval + SLOWER_BY * hasty, 120)
        row.save(update_fields=["polled_at", "interval"])
        if hasty:
            return Waiting.SLOW_DOWN
        if row.state == State.PENDING:
            return Waiting.PENDING
        made = _mint(row) if row.state == State.APPROVED else None
        row.state = State.REDEEMED if made else State.DENIED
        row.save(update_fields=["state"])
        return made or Waiting.DENIED


def _mint(row: DeviceRequest) -> tuple[Token, str] | None:
    """The token, unless the person has lost since what they approved."""
    user = row.user
    if user is None or row.org_id is None or not user.is_active:
        return None
    actor = actor_of(user)
    try:
        with tenancy.context(user_id=user.id, org_ids=actor.org_ids):
            return services.create(
                actor=actor,
                name=f"{row.client} ({row.address})"[:80],
                scopes=row.scopes,
                expires_in_days=row.days,
                org_id=row.org_id,
                project_id=row.project_id,
                client=row.client,
            )
    except PodiumError:
        return None


def expire() -> int:
    """Forget requests and wrong guesses that are over. For the ticker."""
    with tenancy.context(role="system"):
        gone, _ = DeviceRequest.objects.filter(expires_at__lt=timezone.now() - LIFE).delete()
        DeviceGuess.objects.filter(at__lt=timezone.now() - LIFE).delete()
    return gone


def _find(actor: Actor, user_code: str) -> DeviceRequest | None:
    """The pending request, counting a wrong code. Guesses of one person are made one after the other."""
    with connections["system"].cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"device guess {actor.user_id}"])
    now = timezone.now()
    if DeviceGuess.objects.filter(user_id=actor.user_id, at__gt=now - LIFE).count() >= MOST_GUESSES:
        text = "Too many wrong codes: wait ten minutes, then let the program show a new one."
        raise PodiumError("device.too_many_guesses", text, status=429, params={"retry_after": 600})
    letters = "".join(letter for letter in user_code.upper() if letter in LETTERS)
    rows = DeviceRequest.objects.filter(
        code_digest=digest(letters, of="device:code"), state=State.PENDING, expires_at__gt=now
    )
    found = rows.first()
    if found is None:
        DeviceGuess.objects.create(user_id=actor.user_id)
    return found
