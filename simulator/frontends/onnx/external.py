"""Tensors whose bytes lie in another file beside the model: found without leaving its folder, read when wanted.

Only regular files are opened, never links, and only through the folder of a model that is itself a regular file.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from simulator.errors import SimulatorError

SHOWN = 100
LONGEST = 1024  # characters of a location


@dataclass(frozen=True)
class Folder:
    """Where a model lies. ``model`` is its own file, which holds no data for itself."""

    path: Path
    model: Path


def folder_of(source: Path) -> Folder | None:
    """The folder of a model file, or None when the path is a link, such as that of an open file."""
    return None if source.is_symlink() else Folder(source.parent, source)


def is_external(tensor: Any) -> bool:
    return bool(tensor.data_location == tensor.EXTERNAL or len(tensor.external_data))


def check_external(tensor: Any, where: str, expected: int, folder: Folder | None) -> None:
    """Raise ``model.external_data_unsafe``, ``..._missing`` or ``model.bad_tensor`` unless the bytes are there."""
    path, offset, length = _place(tensor, where, folder)
    held = _size(path, where, tensor)
    wanted = held - offset if length is None else length
    if wanted != expected or offset + expected > held:
        raise SimulatorError(
            "model.bad_tensor",
            f"{where} needs {expected} bytes at {offset} of '{path.name[:SHOWN]}', which has {held}; it asks for "
            f"{wanted}. The files do not belong together; export the model again.",
            params={"tensor": tensor.name[:200]},
        )


def read_external(tensor: Any, expected: int, folder: Folder | None) -> bytes:
    """The bytes of a checked tensor."""
    where = f"Tensor '{tensor.name[:200]}'"
    path, offset, _ = _place(tensor, where, folder)
    with open(_opened(path, where, tensor), "rb") as file:
        file.seek(offset)
        data = file.read(expected)
    if len(data) != expected:
        raise _missing(tensor, where, path.name)
    return data


def _place(tensor: Any, where: str, folder: Folder | None) -> tuple[Path, int, int | None]:
    """File, offset and length (None: to the end). Raises unless the location stays inside the folder."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    parts = PurePosixPath(location).parts
    odd = location.startswith(("/", "\\", "~")) or any(c in location for c in ":\\\0") or len(location) > LONGEST
    if odd or not parts or ".." in parts:
        raise _unsafe(tensor, where, location)
    numbers = []
    for key in ("offset", "length"):
        text = entries.get(key, "0" if key == "offset" else "")
        if text and not (text.isascii() and text.isdecimal() and len(text) < 19):
            raise SimulatorError(
                "model.bad_tensor",
                f"{where} asks for {key} '{text[:20]}' of its file. The file is damaged; export it again.",
                params={"tensor": tensor.name[:200]},
            )
        numbers.append(int(text) if text else None)
    if folder is None:
        raise _missing(tensor, where, location)
    path = folder.path
    try:
        for part in parts:
            path = path / part
            if stat.S_ISLNK(path.lstat().st_mode):
                raise _unsafe(tensor, where, location)
        if path.samefile(folder.model):
            raise _unsafe(tensor, where, location)
    except OSError as error:
        raise _missing(tensor, where, location) from error
    return path, numbers[0] or 0, numbers[1]


def _size(path: Path, where: str, tensor: Any) -> int:
    descriptor = _opened(path, where, tensor)
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _opened(path: Path, where: str, tensor: Any) -> int:
    """A descriptor of a regular file that is no link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise _missing(tensor, where, path.name) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _unsafe(tensor, where, path.name)
    return descriptor


def _unsafe(tensor: Any, where: str, location: str) -> SimulatorError:
    shown = location[:SHOWN].replace("\0", "\\0")
    return SimulatorError(
        "model.external_data_unsafe",
        f"{where} asks to read '{shown}', which leaves the upload. Save the model as one file: "
        "onnx.save(model, path, save_as_external_data=False).",
        params={"tensor": tensor.name[:200], "location": shown},
    )


def _missing(tensor: Any, where: str, location: str) -> SimulatorError:
    shown = location[:SHOWN]
    return SimulatorError(
        "model.external_data_missing",
        f"{where} keeps its data in another file, '{shown}', which is not there. Put it beside the model, or save "
        "the model as one file: onnx.save(onnx.load(path), path), or torch.onnx.export(..., external_data=False).",
        params={"tensor": tensor.name[:200], "location": shown},
    )
