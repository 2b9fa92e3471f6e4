"""Runs one command as a process of its own and says what it took. What is run is for ``cases``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Taken:
    """Seconds of processor time (user and system) and of waiting, peak resident megabytes, and the exit status."""

    cpu_seconds: float
    wall_seconds: float
    peak_mb: float
    status: int


def run(words: Sequence[str]) -> Taken:
    """Run ``python -m simulator`` with ``words``, from process start to report."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.monotonic()
    child = subprocess.Popen([sys.executable, "-m", "simulator", *words], stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Taken(used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024, child.returncode)


def least(words: Sequence[str], times: int) -> Taken:
    """The run that took least processor time: others were disturbed."""
    return min((run(words) for _ in range(times)), key=lambda taken: taken.cpu_seconds)
