"""Signs a browser's session in to the API; a changing request must carry the CSRF token."""

from typing import Any

from rest_framework.authentication import SessionAuthentication as DrfSessionAuthentication
from rest_framework.request import Request

from portal.organizations.access import actor_of
from portal.tenancy import Actor


class SessionAuthentication(DrfSessionAuthentication):
    """REST framework's, with the person's reach as `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Any, Actor] | None:  # type: ignore[override]
        found = super().authenticate(request)
        if found is None:
            return None
        return found[0], actor_of(found[0])
