"""Scopes that a token can have, and what each is good for.

Making and revoking tokens is for signed-in people alone, so there is no tokens:write.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from portal.tenancy import Role

# The scope, and the role that a person needs for it to be of any use.
NEEDED = {
    "audit:read": Role.ADMIN,
    "boards:read": Role.VIEWER,
    "jobs:read": Role.VIEWER,
    "jobs:write": Role.MEMBER,
    "models:read": Role.VIEWER,
    "models:write": Role.MEMBER,
    "organizations:read": Role.VIEWER,
    "organizations:write": Role.ADMIN,
    "pods:read": Role.VIEWER,
    "reservations:read": Role.VIEWER,
    "reservations:write": Role.MEMBER,
    "tokens:read": Role.VIEWER,
}
SCOPES = tuple(NEEDED)


@cache
def operations() -> dict[str, list[str]]:
    """Each scope with what it opens, such as "POST /api/v1/jobs", as the routes themselves say."""
    found: dict[str, list[str]] = {scope: [] for scope in SCOPES}
    for address, view in _routes(get_resolver().url_patterns, "/"):
        for method, scope in getattr(view, "scopes", {}).items():
            found[scope].append(f"{method} {address}")
    return found


def _routes(patterns: list[Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for pattern in patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, address)
        elif isinstance(pattern, URLPattern) and hasattr(pattern.callback, "view_class"):
            yield (
                address.replace("<uuid:", "{").replace("<slug:", "{").replace("<str:", "{").replace(">", "}"),
                pattern.callback.view_class,
            )
