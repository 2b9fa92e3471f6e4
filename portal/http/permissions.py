"""Whether the caller may use this method at all; whose rows they see is decided by `visible_to` and the database."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from portal.errors import PodiumError
from portal.tenancy import Actor


class ScopePermission(BasePermission):
    """A view names the scope of each method; one without a scope is refused, unless the view says it is public."""

    def has_permission(self, request: Request, view: Any) -> bool:
        scope = view.scopes.get(request.method or "")
        actor = request.auth
        if not isinstance(actor, Actor):
            # False becomes 401 for a method that exists and 405 for one that does not.
            return request.method in view.public or not hasattr(view, (request.method or "").lower())
        if request.method in view.public or not hasattr(view, (request.method or "").lower()):
            return True
        if request.method in view.session_only and not actor.is_session:
            raise PodiumError("auth.session_only", "A token cannot do this: sign in with the browser.", status=403)
        if scope is None or not actor.has_scope(scope):
            raise PodiumError(
                "auth.scope_missing",
                f"This token lacks the scope {scope}: make one that has it.",
                status=403,
                params={"scope": scope},
            )
        return True
