"""Signs a browser's session in to the API; a changing request must carry the CSRF token."""

from typing import Any

from rest_framework.authentication import SessionAuthentication as DrfSessionAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from portal.errors import PodiumError
from portal.organizations.access import actor_of
from portal.tenancy import Actor


class SessionAuthentication(DrfSessionAuthentication):
    """REST framework's, with the person's reach as `request.auth`."""

    def authenticate(self, request: Request) -> tuple[Any, Actor] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        return found[0], actor_of(found[0])

    def enforce_csrf(self, request: Request) -> None:
        """A changing request must carry the token of our own page."""
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            text = "The page is too old to be trusted: reload it and try again."
            raise PodiumError("auth.csrf", text, status=403) from error
