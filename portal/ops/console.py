"""What the launcher prints: steps with their seconds, warnings, and the logs of the services. No decisions."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COLOURS = {"postgres": 36, "valkey": 35, "web": 32, "worker": 34, "ticker": 33}


def coloured(text: str, code: int) -> str:
    """`text` in an ANSI colour when a terminal reads it and NO_COLOR is not set."""
    plain = os.environ.get("NO_COLOR") or not sys.stdout.isatty()
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"


def say(text: str, *, warn: bool = False) -> None:
    """One line for the person at the terminal. A terminal that is gone is no reason to stop."""
    try:
        print(coloured(text, 33) if warn else text, flush=True)
    except OSError:
        pass


@contextmanager
def step(title: str) -> Iterator[None]:
    """Announce a step and, when it is done, how long it took."""
    started = time.monotonic()
    say(f"· {title} ...")
    yield
    say(f"  {title}: done in {time.monotonic() - started:.1f} s")


class LogTail:
    """Follows the log files of the services from their present ends, or from the start of the last `lines` lines."""

    def __init__(self, files: dict[str, Path], *, lines: int = 0) -> None:
        self._files = files
        self._at = {name: _start_of_last(path, lines) for name, path in files.items()}

    def show(self) -> None:
        """Print what was appended since the last call, each line with the name of its service."""
        for name, path in self._files.items():
            for line in self._fresh(name, path):
                say(f"{coloured(f'{name:<8}', COLOURS.get(name, 37))} {line}")

    def _fresh(self, name: str, path: Path) -> list[str]:
        try:
            size = path.stat().st_size
            if size < self._at[name]:  # it was emptied
                self._at[name] = 0
            if size == self._at[name]:
                return []
            with path.open("rb") as file:
                file.seek(self._at[name])
                data = file.read(1_000_000)
        except FileNotFoundError:
            return []
        whole, newline, _ = data.rpartition(b"\n")
        self._at[name] += len(whole) + len(newline)
        return whole.decode(errors="replace").splitlines() if newline else []


def last_lines(path: Path, count: int) -> list[str]:
    """The last `count` lines of a file that may be long."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(_start_of_last(path, count))
        return file.read().decode(errors="replace").splitlines()


def _start_of_last(path: Path, lines: int) -> int:
    if not path.exists():
        return 0
    size = path.stat().st_size
    if lines == 0:
        return size
    with path.open("rb") as file:
        start = max(0, size - 400 * lines)
        file.seek(start)
        found = file.read().split(b"\n")
    return size - len(b"\n".join(found[-(lines + 1) :])) if len(found) > lines + 1 else start
