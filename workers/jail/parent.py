"""The parent of a jailed child: starts it, listens, watches memory and time, and turns its end into one Outcome.

It trusts nothing the child says beyond its kind, and knows neither jobs nor databases: the caller's callbacks do.
"""

from __future__ import annotations

import os
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil

from workers.jail import frames, landlock, process
from workers.jail.limits import Limits
from workers.jail.process import ROOT, Child
from workers.jail.scratch import own_user

_LOOK_EVERY = 0.05  # seconds between two looks at memory
_STDERR_KEPT = 16 * 1024
_SIGNAL_REASONS = {signal.SIGXCPU: "cpu"}
_TEXTS = {
    "memory": "The model needed more memory than the {limit} MiB one process may use. Use a smaller model or batch.",
    "cpu": "The model used more than its {limit} seconds of processor time. Use a smaller model, or fewer steps.",
    "wall": "The model was not done after {limit} seconds. Use a smaller model, or fewer steps.",
    "protocol": "The process that read the model answered with something unreadable and was ended.",
    "crash": "The process that read the model ended without an answer. This is our fault; please report the model.",
    "start": "The process that reads models could not be confined or started. This is our fault.",
}

_UNAVAILABLE = "This server cannot read models safely at present. Please tell its operator; the worker's log says why."

EventHandler = Callable[[str, dict[str, Any]], None]
# Called about every 50 ms; True asks the child to stop in an orderly way, an exception kills it and is passed on.
Tick = Callable[[], bool]


class JailUnavailable(Exception):
    """Nothing hostile can be read safely on this machine; the message says what would help."""


@dataclass(frozen=True)
class Order:
    """One thing to do. `files` are opened here, read-only; each is given to the verb as a path, under its key."""

    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    module: str = process.STANDARD
    niceness: int = 0  # how far it stands back for others; a long run must not starve the web
    code: tuple[Path, ...] = (ROOT / "simulator", ROOT / "workers")


@dataclass(frozen=True)
class Outcome:
    """How a child ended. `code` is the simulator's when refused, `jail.<reason>` when killed."""

    status: Literal["ok", "refused", "killed"]
    value: Any = None
    code: str = ""
    message: str = ""
    owner: str = "user"  # user | platform | limit
    params: dict[str, Any] = field(default_factory=dict)
    isolation: str = ""
    peak_bytes: int = 0
    diagnostics: str = ""  # the last of the child's stderr: for the operator's log, never for users


def run(
    order: Order,
    *,
    scratch: Path,
    limits: Limits,
    on_event: EventHandler | None = None,
    on_tick: Tick | None = None,
    on_ready: Callable[[str], None] | None = None,
) -> Outcome:
    """Do `order` in a fresh jailed interpreter and wait for its end. Exceptions of the callbacks kill the child.

    `on_ready` is told the isolation level once the walls stand, before anything of the order is done.
    """
    user = own_user()
    try:
        message = _order_message(order, scratch, limits, user)
    except JailUnavailable as error:
        return Outcome(
            "killed", code="jail.unavailable", message=_UNAVAILABLE, owner="platform", diagnostics=str(error)
        )
    if user is not None:
        os.chown(scratch, user, user)
    child = process.take(order.module)
    try:
        with suppress(BrokenPipeError):  # it is dead already: the watch will say so
            frames.write(child.outward, message)
        return _Watch(child, limits, on_event or _ignore, on_tick or _never, on_ready).until_end()
    finally:
        child.end()


def _order_message(order: Order, scratch: Path, limits: Limits, user: int | None) -> dict[str, Any]:
    for path in order.files.values():  # a link or a missing file is the caller's mistake: say so here
        os.close(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC))
    return {
        "verb": order.verb,
        "arguments": dict(order.arguments),
        "files": {key: str(path.resolve()) for key, path in _readable_by(user, order.files, scratch).items()},
        "limits": asdict(limits),
        "scratch": str(scratch.resolve()),
        "code": [str(folder) for folder in order.code],
        "user": user,
        "niceness": order.niceness,
    }


def _readable_by(user: int | None, files: Mapping[str, Path], scratch: Path) -> Mapping[str, Path]:
    """The files as the child's user can read them. Where Landlock stands the child keeps the right to read them."""
    if user is None or landlock.abi():
        return files
    for folder in (ROOT, Path(sys.prefix), Path(sys.base_prefix)):
        if not _all_may_enter(folder):
            raise JailUnavailable(
                f"{folder} lies behind a folder that only its owner may enter, and this kernel has no Landlock: "
                "move it to a place that all users can reach, or run the worker as an ordinary user."
            )
    copies = {}
    for key, path in files.items():
        copies[key] = scratch / f"given-{key}"
        shutil.copyfile(path, copies[key], follow_symlinks=False)
        os.chown(copies[key], user, user)
    return copies


def _all_may_enter(folder: Path) -> bool:
    return all(step.stat().st_mode & 0o001 for step in (folder, *folder.parents))


class _Watch:
    """Follows one child until it has ended or must be."""

    def __init__(
        self,
        child: Child,
        limits: Limits,
        on_event: EventHandler,
        on_tick: Tick,
        on_ready: Callable[[str], None] | None,
    ) -> None:
        self._child, self._limits = child, limits
        self._on_event, self._on_tick, self._on_ready = on_event, on_tick, on_ready
        self._decoder = frames.Decoder()
        self._stderr = bytearray()
        self._isolation = ""
        self._answer: dict[str, Any] | None = None
        self._peak = 0
        self._asked_to_stop = False
        self._deadline = time.monotonic() + limits.warmup_seconds

    def until_end(self) -> Outcome:
        with selectors.DefaultSelector() as selector:
            selector.register(self._child.inward, selectors.EVENT_READ, self._hear)
            stderr = self._child.process.stderr
            assert stderr is not None
            selector.register(stderr.fileno(), selectors.EVENT_READ, self._keep_stderr)
            next_look = 0.0
            while self._answer is None:
                for key, _ in selector.select(_LOOK_EVERY):
                    if not key.data(key.fd):
                        selector.unregister(key.fd)
                if time.monotonic() >= next_look:
                    next_look = time.monotonic() + _LOOK_EVERY
                    self._look()
                if self._answer is None and self._child.inward not in {k.fd for k in selector.get_map().values()}:
                    self._answer = {"say": "killed", "reason": self._reason_of_death()}
        return self._outcome(self._answer)

    def _hear(self, descriptor: int) -> bool:
        data = os.read(descriptor, 1 << 16)
        try:
            if self._decoder.received > self._limits.result_bytes:
                raise frames.FrameError("it says too much")
            for message in self._decoder.feed(data):
                self._take(message)
        except frames.FrameError:
            self._answer = {"say": "killed", "reason": "protocol"}
        return bool(data)

    def _take(self, message: dict[str, Any]) -> None:
        if self._answer is not None:
            return
        match message:
            case {"say": "ready", "isolation": str(level)} if not self._isolation:
                self._isolation = level
                if self._on_ready is not None:
                    self._on_ready(level)
                self._deadline = time.monotonic() + self._limits.wall_seconds
            case {"say": "event", "kind": str(kind), "data": dict(data)}:
                self._on_event(kind, data)
            case {"say": "result", "value": _} | {"say": "killed", "reason": "memory" | "crash"}:
                self._answer = message
            case {"say": "refused", "code": str(), "message": str(), "owner": "user" | "platform", "params": dict()}:
                self._answer = message
            case _:
                raise frames.FrameError("an unknown message")

    def _keep_stderr(self, descriptor: int) -> bool:
        data = os.read(descriptor, 1 << 16)
        self._stderr = (self._stderr + data)[-_STDERR_KEPT:]
        return bool(data)

    def _look(self) -> None:
        """Memory, time, and what the caller wants."""
        with suppress(psutil.Error):
            self._peak = max(self._peak, psutil.Process(self._child.process.pid).memory_info().rss)
        if self._peak > self._limits.memory_bytes:
            self._answer = {"say": "killed", "reason": "memory"}
        elif time.monotonic() > self._deadline:
            self._answer = {"say": "killed", "reason": "wall" if self._isolation else "start"}
        elif self._on_tick() and not self._asked_to_stop and self._isolation:
            self._asked_to_stop = True
            with suppress(OSError):
                frames.write(self._child.outward, {"say": "stop"})

    def _reason_of_death(self) -> str:
        try:
            status = self._child.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "protocol"
        if status < 0 and -status in _SIGNAL_REASONS:
            return _SIGNAL_REASONS[signal.Signals(-status)]
        return "crash" if self._isolation else "start"

    def _outcome(self, answer: dict[str, Any]) -> Outcome:
        common: dict[str, Any] = {
            "isolation": self._isolation,
            "peak_bytes": self._peak,
            "diagnostics": self._stderr.decode(errors="replace"),
        }
        if answer["say"] == "result":
            return Outcome("ok", value=answer["value"], **common)
        if answer["say"] == "refused":
            return Outcome(
                "refused", code=answer["code"][:100], message=answer["message"][:2000], owner=answer["owner"],
                params=answer["params"], **common,
            )  # fmt: skip
        reason = answer["reason"]
        limit = {
            "memory": self._limits.memory_bytes // (1024 * 1024),
            "cpu": self._limits.cpu_seconds,
            "wall": self._limits.wall_seconds,
        }.get(reason)
        return Outcome(
            "killed",
            code=f"jail.{reason}",
            message=_TEXTS[reason].format(limit=limit),
            owner="platform" if limit is None else "limit",
            params={} if limit is None else {"limit": limit},
            **common,
        )


def _ignore(kind: str, data: dict[str, Any]) -> None:
    """For callers who want the answer only."""


def _never() -> bool:
    return False
