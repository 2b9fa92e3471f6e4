"""How a command ends: its exit status, refusals in words and as JSON, files written, progress on a terminal."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from simulator.errors import EXIT_BAD_INPUT, EXIT_PLATFORM, SimulatorError

INTERRUPTED = 130
OF_OUTPUT = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # what a full or failing file system says


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
    except OSError as error:
        if error.errno not in OF_OUTPUT:
            return _internal(as_json)
        _tell(_not_written("Standard output", os.strerror(error.errno)).to_dict(), False)
        return EXIT_BAD_INPUT
    except Exception:
        return _internal(as_json)


def _internal(as_json: bool) -> int:
    traceback.print_exc()
    message = "The simulator failed in a way nobody foresaw. This is a fault of ours, not of the model."
    _tell({"code": "internal", "message": message, "owner": "platform", "params": {}}, as_json)
    return EXIT_PLATFORM


def _tell(error: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": error}))
    print(f"{error['message']} [{error['code']}]", file=sys.stderr)


def writable(*paths: Path | None, read: Sequence[Path | str | None] = ()) -> None:
    """Raise ``output.not_written`` now for what ``written`` could not write after minutes of work. None: no file.

    Nor may two outputs share a file, or one of them replace a file that is ``read``.
    """
    outputs = [path for path in paths if path is not None and str(path) != "-"]
    for path in outputs:
        try:
            why = _refusal(path, [each for each in outputs if each is not path], [Path(each) for each in read if each])
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
        if why:
            raise _not_written(path, why)


def _refusal(path: Path, others: Sequence[Path], read: Sequence[Path]) -> str:
    if path.is_dir():
        return "it is a directory"
    if not path.parent.is_dir():
        return "no such file or directory"
    if any(each.resolve() == path.resolve() for each in others):
        return "another output is to go into the same file"
    if any(each.exists() and path.exists() and each.samefile(path) for each in read):
        return "it is what this run reads"
    return "" if os.access(path if path.exists() else path.parent, os.W_OK) else "permission denied"


def written(path: Path, content: str) -> None:
    """Write ``content``. Raises ``output.not_written`` when the file system refuses."""
    try:
        path.write_text(content, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise _not_written(path, getattr(error, "strerror", None) or str(error)) from None


def _not_written(path: Path | str, why: str) -> SimulatorError:
    text = f"{path} cannot be written: {why.lower()}. Choose another file."
    return SimulatorError("output.not_written", text, params={"file": str(path)})


def progress() -> Callable[[str, float], None] | None:
    """Progress on one line of a terminal; None when standard error is a file."""
    if not sys.stderr.isatty():
        return None

    def tell(phase: str, fraction: float) -> None:
        end = "\r" if (phase, fraction) != ("report", 1.0) else "\r" + " " * 30 + "\r"
        print(f"{phase:<12}{fraction:>5.0%}", end=end, file=sys.stderr, flush=True)

    return tell
