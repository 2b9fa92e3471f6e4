"""Verbs that misbehave on purpose: what a hostile model might make the simulator do, run in the real jail."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from workers.jail.child import Conversation


def warm() -> None:
    """Nothing to load."""


def loop(conversation: Conversation) -> None:
    while True:
        pass


def sleep(conversation: Conversation) -> None:
    time.sleep(600)


def allocate(conversation: Conversation, *, count: int) -> int:
    held = []
    for _ in range(count // (16 << 20)):
        held.append(bytearray(b"\1" * (16 << 20)))
    return len(held)


def claim(conversation: Conversation, *, count: int) -> int:
    return len(bytearray(count))


def try_all(conversation: Conversation, *, forbidden: str, libc_calls: dict[str, int]) -> dict[str, Any]:
    """Attempt each thing that must not work; answers what came of it: `refused` or `worked`."""
    attempts = {
        "internet socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
        "unix socket": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
        "fork": os.fork,
        "program": lambda: os.execv("/bin/true", ["true"]),
        "signal parent": lambda: os.kill(os.getppid(), signal.SIGTERM),
        "read secret": lambda: Path(forbidden).read_bytes(),
        "read password file": lambda: Path("/etc/passwd").read_bytes(),
        "parent environment": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
        "write outside": lambda: Path("/tmp/podium-jail-escape").write_bytes(b"x"),
        "list root": lambda: os.listdir("/"),
        "become root": lambda: os.setuid(0) if os.getuid() else _refuse(),
        "raise its priority": lambda: os.nice(-5),
    }
    results = {name: _outcome(attempt) for name, attempt in attempts.items()}
    libc = ctypes.CDLL(None, use_errno=True)
    for name, number in libc_calls.items():
        results[name] = "refused" if libc.syscall(number, 0, 0, 0, 0, 0, 0) < 0 else "worked"
    return results


def surroundings(conversation: Conversation) -> dict[str, Any]:
    """What can be seen from inside."""
    return {
        "environment": dict(os.environ),
        "files": sorted(os.listdir("/proc/self/fd")),
        "user": os.getuid(),
        "modules": [name for name in sys.modules if name.split(".")[0] in ("django", "celery", "portal")],
    }


def read_given(conversation: Conversation, *, model: str) -> str:
    return Path(model).read_text()


def say_garbage(conversation: Conversation, *, text: str) -> None:
    os.write(conversation._outward, bytes.fromhex(text))
    time.sleep(600)


def flood(conversation: Conversation) -> None:
    while True:
        conversation.emit("log", {"message": "x" * 60_000})


def odd_strings(conversation: Conversation) -> dict[str, Any]:
    conversation.emit("log", {"message": "a\x00b\ud800", "loss": float("nan")})
    return {"\x00": "\udfff"}


def die(conversation: Conversation) -> None:
    os.abort()


def leave(conversation: Conversation) -> None:
    os._exit(0)


def fail(conversation: Conversation) -> None:
    raise RuntimeError("secret detail")


def wait_for_stop(conversation: Conversation) -> str:
    while not conversation.should_stop():
        time.sleep(0.02)
    return "stopped"


def leave_files(conversation: Conversation) -> None:
    Path("good.txt").write_text("good")
    Path("large.bin").write_bytes(b"0" * 5000)
    try:
        Path("link").symlink_to("/etc/passwd")
    except OSError:
        pass  # Landlock refuses links already; where there is none, the parent must


def _outcome(attempt: Any) -> str:
    try:
        attempt()
    except (OSError, ValueError):
        return "refused"
    return "worked"


def _refuse() -> None:
    raise PermissionError
