"""Where the request being answered comes from, so that an entry of the audit log can say so."""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], HttpResponse]


@dataclass(frozen=True, slots=True)
class Origin:
    """Nothing is known of what the ticker, a worker or a command does."""

    address: str | None = None
    user_agent: str = ""


_origin: ContextVar[Origin | None] = ContextVar("podium_audit_origin", default=None)


def current_origin() -> Origin:
    """Of the request being answered, or an empty one."""
    return _origin.get() or Origin()


def note_origin(get_response: Handler) -> Handler:
    """Middleware. Only the peer's address counts: headers are the caller's to invent."""

    def answer(request: HttpRequest) -> HttpResponse:
        agent = "".join(letter if " " <= letter <= "~" else "?" for letter in request.headers.get("User-Agent", ""))
        token = _origin.set(Origin(request.META.get("REMOTE_ADDR") or None, agent[:200]))
        try:
            return get_response(request)
        finally:
            _origin.reset(token)

    return answer
