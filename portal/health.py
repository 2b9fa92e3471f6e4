"""Liveness and readiness: whether this process answers, and whether what it needs does."""

from collections.abc import Callable

import redis
from django.conf import settings
from django.db import connections
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

_checks: dict[str, Callable[[], str]] = {}


def register_check(name: str, check: Callable[[], str]) -> None:
    """Add to readiness: `check` returns an empty string when all is well, else what is wrong."""
    _checks[name] = check


@require_safe
def livez(request: HttpRequest) -> JsonResponse:
    """This process answers."""
    return JsonResponse({"status": "ok"})


@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """{status, checks: {name: "ok" or what is wrong}}; 503 unless all are ok."""
    found = {name: _outcome(check) for name, check in {"database": _database, "valkey": _valkey, **_checks}.items()}
    ready = all(outcome == "ok" for outcome in found.values())
    return JsonResponse({"status": "ok" if ready else "unavailable", "checks": found}, status=200 if ready else 503)


def _outcome(check: Callable[[], str]) -> str:
    try:
        return check() or "ok"
    except Exception as error:
        return type(error).__name__


def _database() -> str:
    for alias in ("default", "system"):
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT 1")
    return ""


def _valkey() -> str:
    redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2).ping()
    return ""
