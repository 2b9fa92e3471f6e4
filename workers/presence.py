"""A worker's presence: it announces itself when it is ready, says every few seconds that it is alive, and says goodbye.

The register itself is `portal.jobs.workers`. Each process of the pool knows the worker's id and dies with the main one.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any
from uuid import UUID

from celery import signals
from django.conf import settings
from django.db import Error, connections

from portal.jobs import workers
from portal.tenancy import uuid7
from workers.jail import parent, process
from workers.jail.limits import Limits
from workers.jail.parent import Order
from workers.jail.scratch import scratch_folder, sweep

log = logging.getLogger(__name__)
BEAT_EVERY = 3.0  # seconds
_PR_SET_PDEATHSIG = 1
_stopping = threading.Event()
_identity: UUID | None = None


def scratch_home() -> Path:
    """Where jailed children get their folders."""
    return Path(settings.PODIUM_HOME) / "scratch"


def worker_id() -> UUID:
    """The id of the worker that this process belongs to."""
    global _identity
    if _identity is None:
        _identity = uuid7()
    return _identity


def worker_name() -> str:
    """For people: the host and the main process."""
    return f"{socket.gethostname()}:{os.getppid()}"


def listen(*, run_queue: str) -> None:
    """Follow the life of the Celery worker, when this process is one."""

    def ready(sender: Any = None, **_: Any) -> None:
        queues = set(sender.task_consumer.queues and [queue.name for queue in sender.task_consumer.queues])
        concurrency = int(sender.controller.concurrency)
        slots = 0 if run_queue not in queues else concurrency if queues == {run_queue} else max(1, concurrency - 1)
        _announce(slots)
        threading.Thread(target=_beat, daemon=True, name="presence").start()

    signals.celeryd_init.connect(lambda **_: worker_id(), weak=False)
    signals.worker_process_init.connect(_enter_pool, weak=False)
    signals.task_postrun.connect(lambda **_: process.prepare(), weak=False)
    signals.worker_ready.connect(ready, weak=False)
    signals.worker_shutting_down.connect(_leave, weak=False)


def _announce(slots: int) -> None:
    sweep(scratch_home())
    with scratch_folder(scratch_home()) as scratch:
        outcome = parent.run(Order("probe", module="workers.jail.probing"), scratch=scratch, limits=Limits())
    if outcome.status != "ok":
        log.error("no job will run here, the jail does not work: %s %s", outcome.code, outcome.diagnostics)
        return
    if settings.PODIUM_ENV == "production" and outcome.isolation == "process":
        log.error("no job will run here: in production, models of strangers need a jail, and this system offers none")
        slots = 0
    workers.announce(
        worker_id=worker_id(),
        name=f"{socket.gethostname()}:{os.getpid()}",
        slots=slots,
        engine_release=outcome.value["engine_release"],
        isolation=outcome.isolation,
    )
    log.info("worker %s takes %s jobs at a time, jail: %s", worker_id(), slots, outcome.isolation)


def _beat() -> None:
    while not _stopping.wait(BEAT_EVERY):
        try:
            workers.beat(worker_id())
        except Error as error:
            log.warning("the heartbeat was not written: %s", error)
        finally:
            connections.close_all()  # nothing stays open that a forked pool process could inherit


def _leave(**_: Any) -> None:
    _stopping.set()
    try:
        workers.leave(worker_id())
    except Error as error:
        log.warning("could not say goodbye: %s", error)


def _enter_pool(**_: Any) -> None:
    """A pool process dies with the main one, or it would go on without a heartbeat; and it keeps a child ready.

    The launcher's SIGTERM goes to the whole group: it is for the main process, which waits while attempts are
    saved and handed back.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    process.prepare()
