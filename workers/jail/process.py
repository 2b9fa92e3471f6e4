"""Starting and ending the interpreters that will be jailed, and keeping one ready: its trusted imports take seconds.

A child is a fresh process, used for one order. Until it has the order it has met nothing hostile, so it may wait warm.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
STANDARD = "workers.jail.verbs"
THREADS = 2  # XLA's pool: the same number gives the same floating-point results
ROOM_FOR_SPARE = 2 * 1024**3  # bytes that must be free to keep a spare of some 200 MB
_BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from workers.jail.child import main; "
    "main(*map(int, sys.argv[2:5]), sys.argv[5])"
)


@dataclass
class Child:
    """A running child: its process, where it is heard (`inward`) and spoken to (`outward`)."""

    process: subprocess.Popen[bytes]
    inward: int
    outward: int

    def end(self) -> None:
        """Kill it, if it lives, and close everything."""
        self.process.kill()
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()
        os.close(self.inward)
        os.close(self.outward)


def start(module: str = STANDARD) -> Child:
    """A new interpreter that imports `module`, warms it and waits for an order."""
    their_inward, outward = os.pipe()
    inward, their_outward = os.pipe()
    command = [sys.executable, "-I", "-B", "-c", _BOOT, str(ROOT), str(os.getpid()), str(their_inward)]
    try:
        process = subprocess.Popen(
            [*command, str(their_outward), module], env=_environment(), pass_fds=(their_inward, their_outward),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
            cwd="/",
        )  # fmt: skip
    except OSError:
        os.close(inward)
        os.close(outward)
        raise
    finally:
        os.close(their_inward)
        os.close(their_outward)
    return Child(process, inward, outward)


_spare: Child | None = None
_spare_of = 0  # the process that started it: a fork must not take what is its parent's


def prepare() -> None:
    """Keep a spare child of this process, when there is none and there is room. It dies with us."""
    global _spare, _spare_of
    if _spare is not None and _spare_of == os.getpid():
        if _spare.process.poll() is None:
            return
        _spare.end()
    if psutil.virtual_memory().available < ROOM_FOR_SPARE:
        _spare = None
        return
    _spare, _spare_of = start(), os.getpid()


def take(module: str) -> Child:
    """The spare if it fits and lives, else a new child."""
    global _spare
    if module != STANDARD or _spare is None or _spare_of != os.getpid():
        return start(module)
    child, _spare = _spare, None
    if child.process.poll() is None:
        return child
    child.end()
    return start(module)


def _environment() -> dict[str, str]:
    """All that a child is told; nothing of ours."""
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": ".",
        "TMPDIR": ".",
        "JAX_PLATFORMS": "cpu",
        "NPROC": str(THREADS),
        "OMP_NUM_THREADS": str(THREADS),
        "OPENBLAS_NUM_THREADS": "1",
        "JOBLIB_MULTIPROCESSING": "0",  # it would warn that it may make no processes
    }
