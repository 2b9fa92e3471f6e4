"""What a child does to itself, in order, before it meets anything hostile. What it does afterwards is not decided here.

Order matters. The trusted imports come first, while all code can be read. Landlock binds only the calling thread and
its later ones, so it comes before JAX makes a pool; seccomp comes last and reaches all threads.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Iterable
from pathlib import Path

from workers.jail import landlock, seccomp
from workers.jail.limits import Limits

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS, _PR_SET_NAME, _PR_SET_NO_NEW_PRIVS = 1, 4, 8, 15, 38
_CAP_DAC_READ_SEARCH = 1 << 2
_CAPABILITY_VERSION_3 = 0x20080522
# What the C library, Python and XLA read besides code: hardware facts, time zones, randomness. No secrets live here.
_SYSTEM_READABLE = (
    "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache",
    "/etc/localtime", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/sys/devices/system",
    "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory",
)  # fmt: skip


def die_with(parent: int) -> None:
    """Ask the kernel to kill us when the parent dies, where it can; leave at once if it is dead already."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(70)


def be_named(name: str) -> None:
    """What the process is called in lists, at most 15 letters."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode(), 0, 0, 0)


def see_only(*, code: Iterable[Path], scratch: Path, descriptors: Iterable[int]) -> bool:
    """First wall: no new privileges, and a file system of code to read and one scratch folder. True if it stands."""
    if sys.platform.startswith("linux") and len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("a thread was started before the walls stood, and would be outside them")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    readable = [Path(sys.prefix), Path(sys.base_prefix) / "lib", *map(Path, _SYSTEM_READABLE), *code]
    return landlock.restrict(
        readable=[*readable, Path(f"/proc/{os.getpid()}")], writable=[scratch], descriptors=descriptors
    )


def limit(limits: Limits, *, own_user: bool) -> None:
    """Second wall: resource limits, counted from now."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime) + limits.cpu_seconds + 1
    _set(resource.RLIMIT_CPU, cpu, cpu + 2)
    _set(resource.RLIMIT_AS, limits.address_space_bytes)
    _set(resource.RLIMIT_FSIZE, limits.file_bytes)
    _set(resource.RLIMIT_NOFILE, limits.open_files)
    _set(resource.RLIMIT_CORE, 0)
    if own_user:  # the limit counts every thread of the user, so it means something only for a user of our own
        _set(resource.RLIMIT_NPROC, 256)
    # a write over RLIMIT_FSIZE then is an error rather than the end
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def become(user: int, parent: int, *, keep_reading: bool) -> None:
    """Third wall: a user that owns nothing.

    `keep_reading` leaves one right, to read what permissions would deny: for a checkout or a Python behind a folder
    that only root may enter, and for the files given. It is safe only behind Landlock, which lists what can be opened.
    """
    os.setgroups([])
    os.setresgid(user, user, user)
    if keep_reading:
        _prctl(_PR_SET_KEEPCAPS, 1)
    os.setresuid(user, user, user)
    if keep_reading:
        _hold_only(_CAP_DAC_READ_SEARCH)
    # The kernel forgets two wishes when the user changes: they are said again.
    _prctl(_PR_SET_DUMPABLE, 1)  # else we may not open our own /proc/self/fd; nobody else has this user
    die_with(parent)


def filter_calls() -> bool:
    """Last wall: the system-call filter, on all threads. True if it stands."""
    return seccomp.install()


def _hold_only(capabilities: int) -> None:
    """Give up all capabilities but these."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)(capabilities, capabilities, 0, 0, 0, 0)  # effective, permitted, inheritable; twice
    if ctypes.CDLL(None, use_errno=True).capset(ctypes.byref(header), ctypes.byref(sets)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"capset: {os.strerror(number)}")


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _set(kind: int, soft: int, hard: int | None = None) -> None:
    _, ceiling = resource.getrlimit(kind)
    wanted = soft if hard is None else hard
    if ceiling != resource.RLIM_INFINITY:
        wanted = min(wanted, ceiling)
    try:
        resource.setrlimit(kind, (min(soft, wanted), wanted))
    except (ValueError, OSError):
        pass  # macOS refuses some of them; the watchdog in the parent remains
