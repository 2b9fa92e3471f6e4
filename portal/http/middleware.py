"""Headers that every answer carries: the request's id and the security policy."""

import logging
import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from portal.errors.request_id import current_request_id, set_request_id
from portal.tenancy import uuid7

Handler = Callable[[HttpRequest], HttpResponse]
SAFE_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
# Mantine and ECharts set styles from script and as style elements; scripts come from our own files alone.
POLICY = "; ".join(
    [
        "default-src 'self'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' {socket}",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    ]
)


def request_identity(get_response: Handler) -> Handler:
    """Takes the caller's X-Request-ID when it is harmless, else makes one; logs and problem documents name it."""

    def answer(request: HttpRequest) -> HttpResponse:
        given = request.headers.get("X-Request-ID", "")
        request_id = given if SAFE_ID.fullmatch(given) else str(uuid7())
        set_request_id(request_id)
        response = get_response(request)
        response["X-Request-ID"] = request_id
        return response

    return answer


def security_headers(get_response: Handler) -> Handler:
    """Content-Security-Policy on every answer, and frames refused."""

    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        socket = f"{'wss' if request.is_secure() else 'ws'}://{request.META.get('HTTP_HOST', '')}"
        if not re.fullmatch(r"wss?://[A-Za-z0-9.:\[\]-]+", socket):
            socket = ""
        response.setdefault("Content-Security-Policy", POLICY.format(socket=socket).replace("'self' ;", "'self';"))
        response.setdefault("X-Frame-Options", "DENY")
        if request.path.startswith("/api/"):
            response.setdefault("Cache-Control", "no-store")
        return response

    return answer


class RequestFilter(logging.Filter):
    """Puts the request's id into log records."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id()
        return True
