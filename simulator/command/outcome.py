"""How a command ends: its exit status, refusals in words and as JSON, files written, progress on a terminal."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simulator.errors import EXIT_PLATFORM, SimulatorError

INTERRUPTED = 130


def guarded(work: Callable[[], int], *, as_json: bool) -> int:
    """The status that ``work`` returns. A refusal is told on standard error, with ``as_json`` also on standard output.

    Anything unforeseen is ours: exit status 5.
    """
    try:
        return work()
    except SimulatorError as error:
        _tell(error.to_dict(), as_json)
        return error.exit_code
    except BrokenPipeError:  # the reader (head, a pager) had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except Exception:
        traceback.print_exc()
        message = "The simulator failed in a way nobody foresaw. This is a fault of ours, not of the model."
        _tell({"code": "internal", "message": message, "owner": "platform", "params": {}}, as_json)
        return EXIT_PLATFORM


def _tell(error: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": error}))
    print(f"{error['message']} [{error['code']}]", file=sys.stderr)


def written(path: Path, content: str) -> None:
    """Write ``content``. Raises ``output.not_written`` when the file system refuses."""
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        text = f"{path} cannot be written: {(error.strerror or str(error)).lower()}. Choose another file."
        raise SimulatorError("output.not_written", text, params={"file": str(path)}) from None


def progress() -> Callable[[str, float], None] | None:
    """Progress on one line of a terminal; None when standard error is a file."""
    if not sys.stderr.isatty():
        return None

    def tell(phase: str, fraction: float) -> None:
        end = "\r" if (phase, fraction) != ("report", 1.0) else "\r" + " " * 30 + "\r"
        print(f"{phase:<12}{fraction:>5.0%}", end=end, file=sys.stderr, flush=True)

    return tell
