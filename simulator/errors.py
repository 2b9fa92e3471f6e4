"""The one exception that leaves the simulator, and its exit codes. It knows no transport and no translation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Owner = Literal["user", "platform"]

EXIT_BAD_INPUT = 2
EXIT_DOES_NOT_FIT = 3
EXIT_PLATFORM = 5


class SimulatorError(Exception):
    """A refusal with a stable dotted code, clear English that says what to do next, and JSON-able parameters.

    ``owner`` says whose doing it was: ``"user"`` (the model or the settings) or ``"platform"`` (ours).
    """

    def __init__(
        self, code: str, message: str, *, owner: Owner = "user", params: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.owner: Owner = owner
        self.params: dict[str, Any] = dict(params or {})

    @property
    def exit_code(self) -> int:
        """Exit status of the command line: 2 bad input, 3 does not fit, 5 ours."""
        if self.owner == "platform":
            return EXIT_PLATFORM
        return EXIT_DOES_NOT_FIT if self.code == "memory.does_not_fit" else EXIT_BAD_INPUT

    def to_dict(self) -> dict[str, Any]:
        """``{code, message, owner, params, exit_code}``."""
        return {
            "code": self.code,
            "message": self.message,
            "owner": self.owner,
            "params": self.params,
            "exit_code": self.exit_code,
        }
