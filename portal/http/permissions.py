"""Whether the caller may use this method at all; whose rows they see is decided by `visible_to` and the database."""

from typing import Any

from rest_framework.exceptions import NotAuthenticated
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from portal.errors import PodiumError
from portal.tenancy import Actor


class ScopePermission(BasePermission):
    """Default deny: a method is public, or for sessions only, or has a scope; one with none of these is refused."""

    def has_permission(self, request: Request, view: Any) -> bool:
        method = "GET" if request.method == "HEAD" else request.method or ""
        if method in view.public or not hasattr(view, method.lower()):
            return True
        actor = request.auth
        if not isinstance(actor, Actor):
            raise NotAuthenticated("Sign in, or send a token: this is not open to everybody.")
        if method in view.session_only:
            if not actor.is_session:
                raise PodiumError("auth.session_only", "A token cannot do this: sign in with the browser.", status=403)
            return True
        scope = view.scopes.get(method, "")
        if not scope or not actor.has_scope(scope):
            raise PodiumError(
                "auth.scope_missing",
                f"This token lacks the scope {scope or method}: make one that has it.",
                status=403,
                params={"scope": scope},
            )
        return True
