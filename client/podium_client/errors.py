"""What can go wrong, and the exit code each fault has on the command line. Texts are mostly the server's."""

from collections.abc import Mapping
from typing import Any

OK = 0
JOB_FAILED = 1
BAD_INPUT = 2
DOES_NOT_FIT = 3
PLATFORM = 5
NOT_ALLOWED = 6
INTERRUPTED = 130

DOES_NOT_FIT_CODE = "memory.does_not_fit"
BAD_INPUT_CODES = ("model.", "config.", "system.")


class PodiumError(Exception):
    """A refusal or fault with a stable dotted `code`, `params` for programs and English text for people.

    `status` is the HTTP status, or 0 when the fault was found on this side. `fields` lists
    `{"field", "code", "detail"}` of an invalid request.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        params: Mapping[str, Any] | None = None,
        fields: list[dict[str, Any]] | None = None,
        exit_code: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.params = dict(params or {})
        self.fields = list(fields or [])
        self.exit_code = exit_code_of(code, status) if exit_code is None else exit_code

    def to_dict(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "detail": self.message,
            "status": self.status,
            "params": self.params,
            "errors": self.fields,
        }


class ConnectionLost(PodiumError):
    """The server could not be reached, or did not answer in time."""

    def __init__(self, message: str) -> None:
        super().__init__("connection.lost", message, exit_code=PLATFORM)


class WaitTimeout(PodiumError):
    """Waiting ended before the thing waited for; the thing itself goes on."""

    def __init__(self, message: str) -> None:
        super().__init__("wait.timeout", message, exit_code=PLATFORM)


def exit_code_of(code: str, status: int) -> int:
    """The exit code for a refused request."""
    if code == DOES_NOT_FIT_CODE:
        return DOES_NOT_FIT
    if status in (401, 402, 403):
        return NOT_ALLOWED
    if status == 429 or status >= 500:
        return PLATFORM
    return BAD_INPUT


def exit_code_of_job(job: Mapping[str, Any]) -> int:
    """The exit code for a job that has ended, from its state and from whose doing the end was."""
    end = job.get("end") or {}
    if job["state"] == "succeeded":
        return OK
    if end.get("code") == DOES_NOT_FIT_CODE:
        return DOES_NOT_FIT
    if job["state"] == "timed_out" or end.get("fault") == "platform":
        return PLATFORM
    if str(end.get("code", "")).startswith(BAD_INPUT_CODES):  # only a run could tell, such as an open dimension
        return BAD_INPUT
    return JOB_FAILED
