"""Reads text files that people name: bounded, regular, UTF-8. Callers give what is wrong its code."""

from __future__ import annotations

from pathlib import Path


class Unreadable(Exception):
    """Why a file cannot be read, as a phrase that follows "it": "is larger than ..."."""


def read_text(path: Path, most_bytes: int) -> str:
    """The text of ``path``. Raises Unreadable, having read no more than ``most_bytes``."""
    try:
        if path.exists() and not path.is_file():
            raise Unreadable("is a directory" if path.is_dir() else "is not a file")
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        why = "contains a null byte in its name" if isinstance(error, ValueError) else error.strerror or str(error)
        raise Unreadable(f"cannot be read ({why.lower()})") from None
    if len(content) > most_bytes:
        raise Unreadable(f"is larger than {most_bytes:,} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("is not text in UTF-8") from None
