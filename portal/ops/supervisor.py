"""Keeps the services of one installation running: starts, restarts with back-off, stops. stack.py names them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from portal.ops.console import say
from portal.ops.errors import OpsError
from portal.ops.home import CHECKOUT, Home, write_private
from portal.ops.identity import Identity
from portal.ops.processes import Mark, end_groups, mark, spawn

FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0
STEADY_AFTER = 60.0  # seconds without a fall after which the delay starts over


@dataclass(frozen=True)
class Service:
    """One process to keep. `orphan_grace` is what its children may take to end when it was killed, in seconds."""

    name: str
    command: list[str]
    environment: dict[str, str]
    folder: Path = CHECKOUT
    identity: Identity = field(default_factory=Identity)
    stop_signal: int = signal.SIGTERM
    stop_grace: float = 10.0
    orphan_grace: float = 0.0


@dataclass
class _Kept:
    service: Service
    child: subprocess.Popen[bytes]
    mark: Mark
    restarts: int = 0
    delay: float = FIRST_DELAY
    retry_at: float | None = None


class Supervisor:
    """Runs in the main thread only, since children are tied to the thread that started them."""

    def __init__(self, home: Home, facts: dict[str, str]) -> None:
        self.home = home
        self.facts = facts  # what `status` and `down` need: address, ports
        self.starting = True
        self.stopping = False
        self.hurry = False  # a second Ctrl-C: no more waiting for a clean end
        self._kept: dict[str, _Kept] = {}
        self._write_state()
        self._watchdog, self._watchdog_pipe = self._start_watchdog()

    def note(self, **facts: str) -> None:
        """Write down what other commands will want to know."""
        self.facts |= facts
        self._write_state()

    def start(self, service: Service) -> None:
        """Start a service and keep it from now on."""
        child = self._spawn(service)
        self._kept[service.name] = _Kept(service, child, mark(child.pid))
        self._write_state()

    def wait_ready(self, name: str, ready: Callable[[], bool], seconds: float) -> bool:
        """Whether `ready` came true in time, while the service's first process was alive."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.stopping:
            if self._kept[name].child.poll() is not None:
                return False
            if ready():
                return True
            time.sleep(0.05)
        return False

    def drop(self, name: str) -> None:
        """Stop one service and forget it."""
        kept = self._kept[name]
        end_groups([kept.mark], first=kept.service.stop_signal, grace=kept.service.stop_grace, hurry=lambda: self.hurry)
        kept.child.wait()
        del self._kept[name]
        self._write_state()

    def tend(self) -> None:
        """One round: notice what fell, restart what is due."""
        if self._watchdog.poll() is not None:
            os.close(self._watchdog_pipe)
            self._watchdog, self._watchdog_pipe = self._start_watchdog()
        for kept in self._kept.values():
            code = kept.child.poll()
            if code is not None and kept.retry_at is None:
                self._fell(kept, code)
            if kept.retry_at is not None and time.monotonic() >= kept.retry_at:
                kept.child = self._spawn(kept.service)
                kept.mark = mark(kept.child.pid)
                kept.retry_at = None
                kept.restarts += 1
                self._write_state()

    def stop(self) -> None:
        """Stop everything, the last started first: the database outlives what writes to it."""
        self.stopping = True
        for name in reversed(list(self._kept)):
            self.drop(name)
        os.close(self._watchdog_pipe)
        self._watchdog.wait()
        self.home.state_file.unlink(missing_ok=True)

    def _fell(self, kept: _Kept, code: int) -> None:
        end_groups([kept.mark], first=signal.SIGTERM, grace=kept.service.orphan_grace)
        if time.time() - kept.mark.started > STEADY_AFTER:
            kept.delay = FIRST_DELAY
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        say(f"{kept.service.name} {how}: it starts again in {kept.delay:.1f} s", warn=True)
        kept.retry_at = time.monotonic() + kept.delay
        kept.delay = min(kept.delay * 2, LONGEST_DELAY)
        self._write_state()

    def _spawn(self, service: Service) -> subprocess.Popen[bytes]:
        try:
            return spawn(
                service.command,
                log=self.home.logs / f"{service.name}.log",
                environment=service.environment,
                folder=service.folder,
                identity=service.identity,
                death_signal=service.stop_signal,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise OpsError("service.cannot_start", f"{service.name} cannot be started: {error}") from error

    def _start_watchdog(self) -> tuple[subprocess.Popen[bytes], int]:
        """A process that stops what we leave. It waits for the end of a pipe whose other end only we hold."""
        read_end, write_end = os.pipe()
        watchdog = subprocess.Popen(
            [sys.executable, "-m", "portal.ops.watchdog", str(read_end), str(self.home.path)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=CHECKOUT, start_new_session=True, pass_fds=[read_end],
        )  # fmt: skip
        os.close(read_end)
        return watchdog, write_end

    def _write_state(self) -> None:
        services = {
            name: {**asdict(kept.mark), "restarts": kept.restarts, "waiting": kept.retry_at is not None}
            for name, kept in self._kept.items()
        }
        state = {"launcher": asdict(mark(os.getpid())), "facts": self.facts, "services": services}
        write_private(self.home.state_file, json.dumps(state, indent=1))
