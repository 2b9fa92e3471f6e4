"""Additions to the generated OpenAPI document: the problem shape, and that any operation may answer with it."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.plumbing import get_lib_doc_excludes

PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code", "params", "errors", "request_id"],
    "description": "RFC 9457 problem document. `code` is stable; `params` holds its facts.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "params": {"type": "object", "additionalProperties": True},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["field", "code", "detail"],
                "properties": {name: {"type": "string"} for name in ("field", "code", "detail")},
            },
        },
        "request_id": {"type": "string"},
    },
}


def add_problem_responses(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular hook: every operation has a `default` answer, the problem document."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    answer = {
        "description": "Refused, with the reason.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for path in result["paths"].values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                operation["responses"].setdefault("default", answer)
    return result


def library_docs() -> list[type]:
    """Classes whose docstrings are for programmers: no operation is described by them."""
    from portal.http.views import PodiumView

    return [PodiumView, *get_lib_doc_excludes()]


class TokenScheme(OpenApiAuthenticationExtension):
    """Describes bearer tokens."""

    target_class = "portal.tokens.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "An API token, pod_..."}


class SessionScheme(OpenApiAuthenticationExtension):
    """Describes the browser's session."""

    target_class = "portal.organizations.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "podium_session", "description": "A browser's session."}
