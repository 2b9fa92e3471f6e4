"""What a handshake brings, and whether a page may open a socket here.

Cookies are not looked at: any page can make a browser send them. A page brings a ticket, which only ours could fetch.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from portal.live.door import Knock

Headers = Mapping[str, str]
PROTOCOL = "podium.v1"
TICKET = "ticket."


def headers_of(scope: Mapping[str, object]) -> dict[str, str]:
    """Header names in lower case; the last of a repeated one counts."""
    pairs = scope.get("headers") or ()
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}  # type: ignore[attr-defined]


def knock_of(scope: Mapping[str, Any], headers: Headers) -> Knock:
    """A ticket travels as a subprotocol: a browser can set no header, and addresses get into logs."""
    kind, _, secret = headers.get("authorization", "").partition(" ")
    offered = [str(name) for name in scope.get("subprotocols") or ()]
    ticket = next((name.removeprefix(TICKET) for name in offered if name.startswith(TICKET)), None)
    client = scope.get("client")
    return Knock(
        path=str(scope.get("path", "")),
        bearer=secret.strip() if kind.lower() == "bearer" else None,
        ticket=ticket,
        address=str(client[0]) if client else None,
    )


def subprotocol_of(scope: Mapping[str, Any]) -> str | None:
    """What to answer: never the ticket."""
    return PROTOCOL if PROTOCOL in (scope.get("subprotocols") or ()) else None


def origin_is_ours(headers: Headers, *, has_bearer: bool) -> bool:
    """A bearer needs no origin. Otherwise a foreign or `null` one is refused, and a browser (cookies) without any."""
    if has_bearer:
        return True
    origin = headers.get("origin")
    if origin is None:
        return "cookie" not in headers
    parts = urlsplit(origin)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        return False
    return parts.netloc in {headers.get("host", ""), urlsplit(settings.PODIUM_URL).netloc}
