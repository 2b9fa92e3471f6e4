"""Checkpoints of a training run: all that its next step depends on, in one .npz file without pickled objects."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from simulator.errors import SimulatorError
from simulator.program import Array

VERSION = 1
_HEADER = "header"

Tree = dict[str, Any]


@dataclass(frozen=True)
class Checkpoints:
    """Where and how often to write checkpoints, and the one to go on from. ``every_seconds`` is wall-clock time."""

    folder: Path
    every_seconds: float = 30.0
    resume: Path | None = None


@dataclass(frozen=True)
class Saved:
    """State after ``step``: arrays by (group, name, slot), the losses so far, and how many steps overflowed."""

    step: int
    losses: list[tuple[int, float]]
    skipped: int
    arrays: dict[tuple[str, str, str], Array]


@dataclass
class Writer:
    """Writes at most every ``every_seconds``, keeping the newest two files."""

    plan: Checkpoints
    _next: float = field(init=False)
    _written: list[Path] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._next = time.monotonic() + self.plan.every_seconds

    def due(self) -> bool:
        return time.monotonic() >= self._next

    def write(self, saved: Saved) -> Path:
        """Write the file, whole or not at all."""
        path = self.plan.folder / f"checkpoint-{saved.step}.npz"
        unfinished = path.with_suffix(".part")
        with unfinished.open("wb") as file:
            np.savez(file, allow_pickle=False, **_members(saved))
        os.replace(unfinished, path)
        self._written = [*(other for other in self._written if other != path), path]
        for old in self._written[:-2]:
            old.unlink(missing_ok=True)
        self._written = self._written[-2:]
        self._next = time.monotonic() + self.plan.every_seconds
        return path


def read(path: Path) -> Saved:
    """Read a checkpoint. Raises ``checkpoint.unreadable``."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            header = json.loads(bytes(stored[_HEADER]))
            if header["version"] != VERSION:
                raise ValueError("another version")
            arrays = {tuple(key): stored[str(index)] for index, key in enumerate(header["keys"])}
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, EOFError) as error:
        raise SimulatorError(
            "checkpoint.unreadable", "The checkpoint cannot be read, so the run cannot go on from it.", owner="platform"
        ) from error
    losses = [(int(step), float(loss)) for step, loss in header["losses"]]
    return Saved(int(header["step"]), losses, int(header["skipped"]), arrays)


def _members(saved: Saved) -> dict[str, Array]:
    """Arrays under running numbers, since names of tensors need not be names of files."""
    header = {
        "version": VERSION,
        "step": saved.step,
        "losses": saved.losses,
        "skipped": saved.skipped,
        "keys": list(saved.arrays),
    }
    members = {str(index): array for index, array in enumerate(saved.arrays.values())}
    return {_HEADER: np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **members}
