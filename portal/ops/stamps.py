"""Whether a slow step may be skipped: a stamp is the hash of what the step was last done with."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def fingerprint(root: Path, patterns: Iterable[str], *, also: str = "") -> str:
    """The hash of the names and contents of the files below `root` that match `patterns`."""
    digest = hashlib.sha256(also.encode())
    found = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    for path in sorted(path for path in found if "__pycache__" not in path.parts):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def is_current(stamp: Path, value: str) -> bool:
    """Whether the step was last done with `value`."""
    return stamp.exists() and stamp.read_text() == value


def write(stamp: Path, value: str) -> None:
    """Note that the step is done. Call it after the step, never before."""
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(value)
