"""Idempotency-Key: the answer is stored in the transaction that did the work, so both exist or neither does."""

import functools
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.encoders import JSONEncoder

from portal.errors import PodiumError
from portal.http.models import IdempotentAnswer
from portal.http.views import PodiumView
from portal.tenancy import uuid7

KEPT = timedelta(days=1)
Method = Callable[..., Response]


def idempotent(method: Method) -> Method:
    """Decorates a view's method: the same key and body give the same answer, another body is refused (422)."""

    @functools.wraps(method)
    def answer(view: PodiumView, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get("Idempotency-Key", "")
        if not key:
            return method(view, request, *args, **kwargs)
        row, is_new = _claim(view, request, key)
        if not is_new:
            return Response(row.answer, status=row.status, headers={"Idempotent-Replay": "true"})
        response = method(view, request, *args, **kwargs)
        # JSON as it is sent, so that a replay is byte for byte the same.
        row.answer = json.loads(json.dumps(response.data, cls=JSONEncoder))
        row.status = response.status_code
        row.save(update_fields=["answer", "status"])
        return response

    return answer


def _claim(view: PodiumView, request: Request, key: str) -> tuple[IdempotentAnswer, bool]:
    """Insert the key, waiting for a transaction that has just inserted the same one."""
    if len(key) > 128:
        raise PodiumError("idempotency.key_too_long", "An Idempotency-Key has at most 128 characters.", status=422)
    body = json.dumps(request.data, sort_keys=True, default=str).encode()
    person, route = view.actor.user_id, f"{request.method} {request.path}"[:200]
    rows = IdempotentAnswer.objects
    rows.filter(user_id=person, key=key, route=route, created_at__lt=timezone.now() - KEPT).delete()
    fresh = IdempotentAnswer(
        id=uuid7(), user_id=person, key=key, route=route, body_sha256=hashlib.sha256(body).hexdigest()
    )
    rows.bulk_create([fresh], ignore_conflicts=True)
    row = rows.get(user_id=person, key=key, route=route)
    if row.body_sha256 != fresh.body_sha256:
        raise PodiumError(
            "idempotency.key_reused",
            "This Idempotency-Key came with another body before: use a new key for a new request.",
            status=422,
        )
    return row, row.id == fresh.id
