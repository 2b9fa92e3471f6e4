"""Which engine made a report: its release, and a fingerprint of the code and constants that decide results."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ENGINE_RELEASE = "2026.11.1"
SUFFIXES = frozenset({".py", ".yaml", ".csv"})


@cache
def engine_fingerprint() -> str:
    """SHA-256 over names and contents of every source and data file of the simulator, in hexadecimal."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.suffix in SUFFIXES}
    for name in sorted(files):
        content = files[name].read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
