"""Signs a bearer in: the token is found before any tenant is known, by a narrow function of the database."""

from datetime import datetime
from uuid import UUID

from django.db import connections
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from portal.accounts.models import User
from portal.errors import PodiumError
from portal.tenancy import Actor, Role, current_alias
from portal.tokens import secret as secrets

REFUSED = "This token is unknown or revoked: make a new one on the tokens page."


def actor_of_token(secret: str, address: str | None) -> Actor | None:
    """The reach of a live token whose person is still a member; None when it is unknown, revoked or left behind.

    Whoever holds the secret of an expired token, or uses one from elsewhere, is told so. Notes the last use.
    """
    if not secrets.well_formed(secret):
        return None
    with connections[current_alias()].cursor() as cursor:
        cursor.execute("SELECT * FROM podium_judge_token(%s, %s)", [secrets.digest(secret), address or None])
        row = cursor.fetchone()
    if row is None:
        return None
    token_id, org_id, project_id, user_id, scopes, role, verdict, expires_at = row
    if verdict != "live":
        _tell_why(verdict, expires_at)
        return None
    return Actor(
        user_id=UUID(str(user_id)),
        roles={UUID(str(org_id)): Role(role)},
        scopes=frozenset(scopes),
        project_id=UUID(str(project_id)) if project_id else None,
        token_id=UUID(str(token_id)),
    )


def _tell_why(verdict: str, expires_at: datetime) -> None:
    if verdict == "expired":
        raise PodiumError(
            "token.expired",
            f"This token expired on {expires_at:%Y-%m-%d %H:%M} UTC: make a new one on the tokens page.",
            status=401,
            params={"expired_at": expires_at.isoformat()},
        )
    if verdict == "elsewhere":
        text = "This token may not be used from your address: use it from its networks, or make another."
        raise PodiumError("token.wrong_network", text, status=403)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer pod_...`; a request that carries one is judged by it alone, whatever cookies it has."""

    def authenticate(self, request: Request) -> tuple[User, Actor] | None:
        kind, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if kind.lower() != "bearer":
            return None
        actor = actor_of_token(secret.strip(), request.META.get("REMOTE_ADDR"))
        user = User.objects.filter(id=actor.user_id).first() if actor else None
        if actor is None or user is None:
            raise AuthenticationFailed(REFUSED)
        return user, actor

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"
