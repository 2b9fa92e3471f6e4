"""Who opens a socket: the bearer of a token, or the person of a browser's session."""

from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest

from portal.accounts.models import User
from portal.errors import PodiumError
from portal.organizations.access import actor_of
from portal.tenancy import Actor
from portal.tokens.authentication import actor_of_token


def actor_of_handshake(headers: Mapping[str, str]) -> Actor | None:
    """The actor behind a handshake's headers (names in lower case).

    A bearer is judged alone, whatever cookies there are.
    """
    kind, _, secret = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        try:
            return actor_of_token(secret.strip(), None)
        except PodiumError:
            return None
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return None
    return _actor_of_session(cookie.value) if cookie else None


def _actor_of_session(key: str) -> Actor | None:
    request = HttpRequest()
    request.session = SessionStore(key)
    # Checks that the session is alive and was made with the present password.
    user = get_user(request)
    return actor_of(user) if isinstance(user, User) and user.is_active else None
