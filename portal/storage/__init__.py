"""Files by content: a blob is named by its SHA-256, written once and never changed. No row is known here."""

import hashlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored file: hexadecimal SHA-256 and length in bytes."""

    sha256: str
    bytes: int


def path(sha256: str) -> Path:
    """Where the blob lives; the name is checked, so that no client text becomes a path."""
    if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
        raise ValueError("A blob is named by 64 hexadecimal digits.")
    return Path(settings.PODIUM_HOME) / "blobs" / sha256[:2] / sha256[2:4] / sha256


def open(sha256: str) -> BinaryIO:
    """The blob's bytes, for reading; FileNotFoundError when it is not here."""
    return path(sha256).open("rb")


def write_stream(chunks: Iterable[bytes]) -> Blob:
    """Store the bytes of `chunks` under their hash: on disk and synced before this returns."""
    folder = _private("blobs")
    handle, name = tempfile.mkstemp(dir=folder, prefix="new-")
    digest, length = hashlib.sha256(), 0
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                digest.update(chunk)
                length += len(chunk)
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        return _keep(Path(name), Blob(digest.hexdigest(), length))
    finally:
        Path(name).unlink(missing_ok=True)


def write_bytes(content: bytes) -> Blob:
    """`write_stream` for what is small and already in memory."""
    return write_stream([content])


def sha256_of(file: Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with file.open("rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest()


def adopt(file: Path, sha256: str) -> Blob:
    """Keep a finished file of uploads_folder() under the hash that `sha256_of` gave.

    The file also stays where it is, for the caller to remove once the row that refers to the blob is committed.
    """
    twin = file.with_suffix(".kept")
    twin.unlink(missing_ok=True)
    twin.hardlink_to(file)
    return _keep(twin, Blob(sha256, file.stat().st_size))


def uploads_folder() -> Path:
    """Folder of unfinished uploads, on the same file system as the blobs."""
    return _private("uploads")


def _private(name: str) -> Path:
    """A folder that only our own user enters."""
    folder = Path(settings.PODIUM_HOME) / name
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _keep(file: Path, blob: Blob) -> Blob:
    """Rename into place and sync the folder: after a crash the blob is whole or absent."""
    _private("blobs")
    target = path(blob.sha256)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Nobody else comes through the folder; a jailed child of another user gets a descriptor and may open it again.
    file.chmod(0o444)
    file.rename(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return blob
