"""Errors that people are told about: a stable code, its parameters and a sentence that says what to do next.

Anything that is not a `PodiumError` is ours, becomes `internal` at the edge (portal.errors.handler), with a log.
"""

from collections.abc import Mapping
from typing import Any


class PodiumError(Exception):
    """A refusal with a stable dotted `code`.

    `message` is clear English, `params` its machine-readable facts (JSON values), `status` the HTTP status it
    becomes, and `fields` maps a request field to (code, sentence).
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 400,
        params: Mapping[str, Any] | None = None,
        fields: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status
        self.params, self.fields = dict(params or {}), dict(fields or {})


class NotFound(PodiumError):
    """There is no such thing, or it is none of the asker's business: the two are told in the same words."""

    def __init__(self) -> None:
        super().__init__(
            "not_found", "There is nothing here, or you may not see it. Check the address and your sign-in.", status=404
        )


__all__ = ["NotFound", "PodiumError"]
