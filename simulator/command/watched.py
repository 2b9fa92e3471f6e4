"""Runs a command in a child that is killed when reading a model file takes too long or too much memory.

The parent imports neither JAX nor ONNX and only watches. Linux alone; elsewhere the command runs unwatched.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass

from simulator.command.outcome import guarded
from simulator.errors import EXIT_PLATFORM, SimulatorError
from simulator.frontends.limits import DEFAULT_LIMITS, Limits
from simulator.frontends.watching import BEGUN, announce_on

POLL_SECONDS = 0.05
PR_SET_PDEATHSIG = 1


def watched(work: Callable[[], int], *, as_json: bool, limits: Limits = DEFAULT_LIMITS) -> int:
    """The exit status of ``work``, run in a child; 2 with ``model.took_too_much`` when the child had to be killed."""
    if not os.path.exists("/proc/self/statm"):
        return work()
    outside, inside = os.pipe()
    _flush()
    child = os.fork()
    if child == 0:
        os.close(outside)
        _die_with_parent()
        announce_on(inside)
        _leave(work)
    os.close(inside)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda got, _: os.kill(child, got))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the child as well
    refusal = _Watch(child, outside, limits).wait()
    _, status = os.waitpid(child, 0)
    if refusal is not None:
        return guarded(lambda: _raise(refusal), as_json=as_json)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code if code in (-signal.SIGTERM, -signal.SIGINT) else EXIT_PLATFORM


def _leave(work: Callable[[], int]) -> None:
    """End this process with the status of ``work``, whatever it raises."""
    status = EXIT_PLATFORM
    try:
        status = work()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else EXIT_PLATFORM
    except BrokenPipeError:  # the reader (head, a pager) had enough
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            _flush()
        os._exit(status)


def _flush() -> None:
    """Neither stream is there when whoever started this has closed it."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def _die_with_parent() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _raise(error: SimulatorError) -> int:
    raise error


@dataclass
class _Watch:
    child: int
    pipe: int
    limits: Limits

    def wait(self) -> SimulatorError | None:
        """Until the child ends; the refusal if it was killed."""
        start: tuple[float, int] | None = None  # CPU seconds and bytes when reading began
        while True:
            ready, _, _ = select.select([self.pipe], [], [], None if start is None else POLL_SECONDS)
            if ready:
                said = os.read(self.pipe, 64)
                if not said:
                    return None
                start = self._used() if said[-1:] == BEGUN else None
            refusal = None if start is None else self._too_much(*start)
            if refusal is not None:
                os.kill(self.child, signal.SIGKILL)
                return refusal

    def _too_much(self, seconds: float, size: int) -> SimulatorError | None:
        now_seconds, now_size = self._used()
        if now_seconds - seconds > self.limits.reading_seconds:
            return _refused("time", f"{self.limits.reading_seconds:g} seconds", self.limits.reading_seconds)
        if now_size - size > self.limits.reading_bytes:
            return _refused("memory", f"{self.limits.reading_bytes} bytes", self.limits.reading_bytes)
        return None

    def _used(self) -> tuple[float, int]:
        """Processor seconds and resident bytes of the child; nothing once it is gone."""
        try:
            with open(f"/proc/{self.child}/stat", encoding="ascii", errors="replace") as file:
                times = file.read().rpartition(")")[2].split()
            with open(f"/proc/{self.child}/statm", encoding="ascii") as file:
                pages = int(file.read().split()[1])
        except (OSError, ValueError, IndexError):
            return 0.0, 0
        ticks = int(times[11]) + int(times[12])
        return ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE")


def _refused(what: str, limit: str, number: float) -> SimulatorError:
    return SimulatorError(
        "model.took_too_much",
        f"Reading the model took more {what} than the limit of {limit}, so it was stopped. Use a simpler model.",
        params={"what": what, "limit": number},
    )
