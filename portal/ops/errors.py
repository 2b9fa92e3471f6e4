"""The one exception of the launcher: a sentence for the person at the terminal, never a traceback."""


class OpsError(Exception):
    """What went wrong and what to do next, in one sentence. `code` is stable; `exit_code` is the shell's."""

    def __init__(self, code: str, message: str, *, exit_code: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.exit_code = exit_code
