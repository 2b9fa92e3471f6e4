"""The base of every API view: signs the caller in, checks the scope, opens their tenancy, then calls the method."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from portal import tenancy
from portal.errors import NotFound, PodiumError
from portal.errors.handler import problem_json
from portal.tenancy import Actor


class PodiumView(APIView):
    """One resource.

    `scopes` names the scope of each method, `public` the methods open to everybody, `session_only` those closed to
    tokens. The method runs inside `tenancy.context` of the caller: what it raises rolls everything back.
    """

    scopes: ClassVar[Mapping[str, str]] = {}
    public: ClassVar[Iterable[str]] = ()
    session_only: ClassVar[Iterable[str]] = ()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """As REST framework's, with the tenancy opened around the method alone."""
        self.args, self.kwargs = args, kwargs
        self.request = framework_request = self.initialize_request(request, *args, **kwargs)
        self.headers = self.default_response_headers
        try:
            self.initial(framework_request, *args, **kwargs)
            method = (request.method or "").lower()
            handler = getattr(self, method, None) if method in self.http_method_names else None
            with self.open_tenancy(framework_request):
                response = (handler or self.http_method_not_allowed)(framework_request, *args, **kwargs)
        except Exception as error:
            response = self.handle_exception(error)
        self.response = self.finalize_response(framework_request, response, *args, **kwargs)
        return self.response

    def open_tenancy(self, request: Request) -> AbstractContextManager[Any]:
        actor = request.auth
        if isinstance(actor, Actor):
            return tenancy.context(user_id=actor.user_id, org_ids=actor.org_ids)
        return tenancy.context()

    @property
    def actor(self) -> Actor:
        """Who asks; only for methods that are not public."""
        actor = self.request.auth
        if not isinstance(actor, Actor):
            raise PodiumError("auth.required", "Sign in, or send a token.", status=401)
        return actor

    @property
    def visitor(self) -> Actor | None:
        """Who asks, or None when signed out."""
        actor = self.request.auth
        return actor if isinstance(actor, Actor) else None

    def body(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The validated request body."""
        return _validated(serializer(data=self.request.data))

    def query(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The validated query string."""
        return _validated(serializer(data=self.request.query_params))


def _validated(shape: BaseSerializer[Any]) -> dict[str, Any]:
    shape.is_valid(raise_exception=True)
    return dict(shape.validated_data)


def csrf_failure(request: HttpRequest, reason: str = "") -> JsonResponse:
    """Django's answer to a forged form, as a problem."""
    text = "The page is too old to be trusted: reload it and try again."
    return problem_json(PodiumError("auth.csrf", text, status=403))


def unknown_path(request: HttpRequest, **kwargs: Any) -> JsonResponse:
    """Any address below /api that is none of ours."""
    return problem_json(NotFound())


__all__ = ["PodiumView", "Response", "csrf_failure", "unknown_path"]
