"""Starting one child process that cannot outlive us, and ending process groups. Restarting is the supervisor's part."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from portal.ops.identity import Identity

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Mark:
    """A process, told from a later one with the same number by its start time (seconds since the epoch)."""

    pid: int
    started: float

    def alive(self) -> bool:
        """Whether that very process still runs (a zombie does not)."""
        try:
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.started) < 2 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False


def mark(pid: int) -> Mark:
    """The mark of a running process; one that has ended already gets a mark which is never alive."""
    try:
        return Mark(pid, psutil.Process(pid).create_time())
    except psutil.Error:
        return Mark(pid, 0.0)


def spawn(
    command: list[str],
    *,
    log: Path,
    environment: dict[str, str],
    folder: Path,
    identity: Identity | None = None,
    death_signal: int = signal.SIGTERM,
) -> subprocess.Popen[bytes]:
    """Start a child in a process group of its own, its output appended to `log`.

    On Linux the kernel sends it `death_signal` when we die, however we die. Call this from the main thread only: the
    kernel means the thread, not the process.
    """
    arguments: dict[str, Any] = (identity or Identity()).popen_arguments()
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=True,
            preexec_fn=die_with_parent(os.getpid(), death_signal),  # noqa: PLW1509  the launcher has one thread
            **arguments,
        )


def die_with_parent(parent: int, death_signal: int) -> Callable[[], None] | None:
    """What a child does before exec so that it dies with `parent`; None where the system cannot (the watchdog can)."""
    if _libc is None:
        return None
    prctl = _libc.prctl

    def before_exec() -> None:
        prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
        if os.getppid() != parent:  # it died before the call above
            os._exit(1)

    return before_exec


def end_groups(
    marks: Iterable[Mark],
    *,
    first: int = signal.SIGTERM,
    grace: float = 10.0,
    hurry: Callable[[], bool] = lambda: False,
) -> list[Mark]:
    """End the process groups led by `marks`: `first`, then SIGKILL after `grace` seconds or when `hurry` says so.

    Returns those that were alive. A group whose leader is gone may still have members, so every group is signalled; a
    number that now belongs to a stranger is left alone.
    """
    groups = [each for each in marks if not _reused(each)]
    running = [each for each in groups if group_members(each)]
    for each in running:
        _signal_group(each.pid, first)
    end = time.monotonic() + grace
    while any(group_members(each) for each in running) and time.monotonic() < end and not hurry():
        time.sleep(0.05)
    end = time.monotonic() + 5
    while (left := [each for each in running if group_members(each)]) and time.monotonic() < end:
        for each in left:
            _signal_group(each.pid, signal.SIGKILL)
        time.sleep(0.02)
    return running


def group_members(leader: Mark) -> list[int]:
    """The living processes in the group that `leader` led."""
    members = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if os.getpgid(process.pid) == leader.pid and process.status() != psutil.STATUS_ZOMBIE:
                members.append(process.pid)
    return members


def _reused(each: Mark) -> bool:
    """Whether the number now names another process: then the group, if any, is another's too."""
    return (
        psutil.pid_exists(each.pid)
        and mark(each.pid).started != 0.0
        and abs(mark(each.pid).started - each.started) >= 2
    )


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
