"""The folder that one jailed child may write to, and reading back what it left there without trusting it."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Transient users of systemd use the same range; PostgreSQL's and the worker's own users are outside it.
_FIRST_USER, _USERS = 61_184, 4_096


def own_user() -> int | None:
    """A user id that owns nothing, when we are root and may take one; else None."""
    return _FIRST_USER + secrets.randbelow(_USERS) if os.geteuid() == 0 else None


@contextmanager
def scratch_folder(home: Path) -> Iterator[Path]:
    """A fresh folder under `home`, removed at the end. Its name holds our process id, for `sweep`."""
    home.mkdir(parents=True, exist_ok=True)
    folder = home / f"{os.getpid()}-{secrets.token_hex(8)}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(home: Path) -> None:
    """Remove folders whose process is gone."""
    for folder in home.glob("*-*"):
        owner = folder.name.partition("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def open_left_behind(folder: Path, name: str, most_bytes: int) -> Iterator[BinaryIO]:
    """Open a plain file that a child left: no link, no device, not larger than allowed. Raises OSError otherwise."""
    if not name or "/" in name or name.startswith("."):
        raise OSError(f"not a plain file name: {name!r:.100}")
    descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_nlink != 1:
            raise OSError(f"not a plain file: {name!r:.100}")
        if facts.st_size > most_bytes:
            raise OSError(f"{name!r:.100} has {facts.st_size} bytes, over the limit of {most_bytes}")
        yield stream


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
