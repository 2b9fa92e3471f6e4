"""The edge where errors become RFC 9457 problem documents; nothing internal is told to the caller."""

import logging
import math
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response

from portal.errors import NotFound, PodiumError
from portal.errors.request_id import current_request_id

logger = logging.getLogger(__name__)
MEDIA_TYPE = "application/problem+json"


def problem(error: PodiumError) -> dict[str, Any]:
    """The problem document of an error: {type, title, status, detail, code, params, errors, request_id}."""
    return {
        "type": f"/docs/errors/{error.code}",
        "title": HTTPStatus(error.status).phrase,
        "status": error.status,
        "detail": error.message,
        "code": error.code,
        "params": error.params,
        "errors": [{"field": name, "code": code, "detail": text} for name, (code, text) in error.fields.items()],
        "request_id": current_request_id(),
    }


def problem_json(error: PodiumError) -> JsonResponse:
    """The same outside REST framework's views."""
    return JsonResponse(problem(error), status=error.status, content_type=MEDIA_TYPE)


def problem_response(exc: Exception, context: dict[str, Any]) -> Response:
    """REST framework's exception handler: every refusal is a problem, an unforeseen error is `internal` and logged."""
    error = as_podium_error(exc)
    if error.status >= 500:
        logger.error("Unforeseen error in %s", context.get("view"), exc_info=exc)
    response = Response(problem(error), status=error.status, content_type=MEDIA_TYPE)
    if "retry_after" in error.params:
        response["Retry-After"] = str(error.params["retry_after"])
    if error.status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def as_podium_error(exc: Exception) -> PodiumError:
    """Any exception of a view in our terms."""
    if isinstance(exc, PodiumError):
        return exc
    if isinstance(exc, Http404 | exceptions.NotFound):
        return NotFound()
    if isinstance(exc, exceptions.ValidationError):
        return _invalid(exc)
    if isinstance(exc, PermissionDenied):
        return PodiumError("auth.forbidden", "You are not allowed to do this.", status=403)
    if isinstance(exc, exceptions.APIException):
        return _known(exc)
    return PodiumError(
        "internal", "Something went wrong on our side. Try again; if it persists, report the request id.", status=500
    )


def _known(exc: exceptions.APIException) -> PodiumError:
    wait = getattr(exc, "wait", None)
    params = {"retry_after": math.ceil(wait)} if wait else {}
    codes: dict[type, str] = {
        exceptions.ParseError: "request.malformed",
        exceptions.NotAuthenticated: "auth.required",
        exceptions.AuthenticationFailed: "auth.invalid",
        exceptions.PermissionDenied: "auth.forbidden",
        exceptions.MethodNotAllowed: "request.method_not_allowed",
        exceptions.NotAcceptable: "request.not_acceptable",
        exceptions.UnsupportedMediaType: "request.unsupported_media_type",
        exceptions.Throttled: "rate.limited",
    }
    code = next((code for kind, code in codes.items() if isinstance(exc, kind)), "request.refused")
    return PodiumError(code, str(exc.detail), status=exc.status_code, params=params)


def _invalid(exc: exceptions.ValidationError) -> PodiumError:
    fields = dict(_flatten(exc.detail))
    listed = "; ".join(f"{name}: {text}" if name else text for name, (_, text) in fields.items())
    return PodiumError("request.invalid", f"The request is not valid. {listed}", status=422, fields=fields)


def _flatten(detail: Any, path: str = "") -> list[tuple[str, tuple[str, str]]]:
    """REST framework's nested error detail as (dotted field, (code, text)), the first error of each field."""
    if isinstance(detail, dict):
        return [
            pair
            for name, inner in detail.items()
            for pair in _flatten(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
        ]
    if isinstance(detail, list):
        if detail and not isinstance(detail[0], dict | list):
            return [(path, (getattr(detail[0], "code", "invalid"), str(detail[0])))]
        return [pair for index, inner in enumerate(detail) for pair in _flatten(inner, f"{path}.{index}".lstrip("."))]
    return [(path, (getattr(detail, "code", "invalid"), str(detail)))]
