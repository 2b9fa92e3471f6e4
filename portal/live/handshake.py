"""Whether a socket may open here: a browser's must come from our own page, since cookies travel with any page."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings

Headers = Mapping[str, str]


def headers_of(scope: Mapping[str, object]) -> dict[str, str]:
    """Header names in lower case; the last of a repeated one counts."""
    pairs = scope.get("headers") or ()
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in pairs}  # type: ignore[attr-defined]


def has_bearer(headers: Headers) -> bool:
    return headers.get("authorization", "").lower().startswith("bearer ")


def origin_is_ours(headers: Headers) -> bool:
    """A bearer needs no origin. Otherwise a foreign or `null` origin is refused, and cookies without any origin too."""
    if has_bearer(headers):
        return True
    origin = headers.get("origin")
    if origin is None:
        return "cookie" not in headers
    parts = urlsplit(origin)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        return False
    return parts.netloc in {headers.get("host", ""), urlsplit(settings.PODIUM_URL).netloc}
