"""A person with credits, a real Celery worker in processes of its own, and the ticker's rounds called by hand."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.services import Services

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def actor(transactional_db: None, services: Services) -> Any:
    """A new person in their personal organization."""
    from portal.accounts.models import User
    from portal.organizations.access import actor_of
    from portal.organizations.services import ensure_personal
    from portal.tenancy import uuid7

    user = User.objects.create_user(email=f"{uuid7()}@example.org", password="a long password of a test")
    ensure_personal(user=user)
    return actor_of(user)


class RunningWorker:
    """A Celery worker of the product, in its own process group."""

    def __init__(self, log: Path, concurrency: int = 2, **environment: str) -> None:
        self._log = log.open("wb")
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "celery", "-A", "workers.app", "worker", "-P", "prefork",
                "--concurrency", str(concurrency), "--loglevel", "INFO", "--without-gossip", "--without-mingle",
            ],
            cwd=ROOT, env={**os.environ, **environment}, stdout=self._log, stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        self._path = log

    def pool(self) -> list[psutil.Process]:
        """The processes that run tasks."""
        return [child for child in psutil.Process(self.process.pid).children() if "celery" in " ".join(child.cmdline())]

    def jailed(self) -> list[psutil.Process]:
        """Their children that are at work behind the walls."""
        found = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in found if child.name() == "podium-jail"]

    def log(self) -> str:
        return self._path.read_text(errors="replace")

    def stop(self) -> None:
        members = [
            self.process.pid,
            *(child.pid for child in psutil.Process(self.process.pid).children(recursive=True)),
        ]
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=8)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for member in members:
            try:
                os.kill(member, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._log.close()


@pytest.fixture
def start_worker(actor: Any, tmp_path: Path) -> Iterator[Callable[..., RunningWorker]]:
    """Start a worker and wait until it is in the register."""
    started: list[RunningWorker] = []

    def start(**environment: str) -> RunningWorker:
        from portal import tenancy
        from portal.jobs.models import Worker

        before = _workers_known()
        worker = RunningWorker(tmp_path / f"worker-{len(started)}.log", **environment)
        started.append(worker)
        for _ in range(600):
            with tenancy.context(role="system"):
                if Worker.objects.count() > before:
                    return worker
            if worker.process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"the worker did not come up:\n{worker.log()[-4000:]}")

    yield start
    for worker in started:
        if worker.process.poll() is None:
            worker.stop()


def _workers_known() -> int:
    from portal import tenancy
    from portal.jobs.models import Worker

    with tenancy.context(role="system"):
        return Worker.objects.count()


def tick_until(done: Callable[[], Any], *, seconds: float = 90.0) -> Any:
    """Call the ticker's rounds until `done()` answers something true."""
    from portal.ticker.rounds import call_due, rounds

    all_rounds = rounds()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        call_due(all_rounds)
        if result := done():
            return result
        time.sleep(0.1)
    raise AssertionError("it did not come about in time")
