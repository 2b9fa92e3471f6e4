"""One attempt at a job, from claim to end: runs the jailed child and reports through the portal's verbs.

Everything written carries the attempt's fence. A refusal (the job was given to somebody else) kills the child at once.
"""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, connections

from portal import storage
from portal.jobs import attempts, scheduling
from portal.jobs.attempts import Wish
from portal.jobs.endings import TIME_LIMIT, Ending
from workers import presence
from workers.jail import parent
from workers.jail.limits import GIB, Limits
from workers.jail.parent import Order, Outcome
from workers.jail.scratch import open_left_behind, scratch_folder
from workers.relay import Relay

log = logging.getLogger(__name__)
T = TypeVar("T")

FLUSH_EVERY = 0.1  # seconds
NICENESS = 10  # of a run: inspections, estimates and the web come first
HEARTBEAT_EVERY = 2.0  # seconds; the lease is several times that
GRACE_TO_STOP = 10.0  # seconds that a child that was asked to stop has to end in an orderly way
GRACE_AFTER_LIMIT = 20.0  # seconds beyond the limit of time, to save and end in an orderly way; then it is killed
GRACE_TO_SAVE = 6.0  # seconds to save before the attempt is handed back all the same, from an older checkpoint
DATABASE_PATIENCE = 30.0  # seconds that a database may be away
MOST_ARTEFACT_BYTES = 2 * GIB
ARTEFACTS = {"outputs.npz": "application/x-npz", "weights.npz": "application/x-npz"}


class _Forced(Exception):
    """The child did not stop when asked."""


class _Malformed(Exception):
    """What the child calls a report is none."""


def run_attempt(attempt_id: UUID, *, worker_id: UUID, worker_name: str) -> None:
    """Claim and run one attempt. A message that came twice, late, or for a withdrawn attempt does nothing."""
    claim = attempts.claim(attempt_id=attempt_id, worker_id=worker_id, worker_name=worker_name)
    if claim is None:
        return
    with scratch_folder(presence.scratch_home()) as scratch:
        try:
            _Attempt(claim, scratch).run()
        except attempts.StaleFence:
            log.warning("attempt %s was given to another worker", attempt_id)
    _fill_the_slot()


def _fill_the_slot() -> None:
    """The next job need not wait for the ticker's round; if this fails, that comes within a second."""
    try:
        scheduling.dispatch()
    except Error as error:
        log.warning("the free slot was left to the ticker: %s", error)


class _Attempt:
    def __init__(self, claim: attempts.Claim, scratch: Path) -> None:
        self._claim, self._scratch = claim, scratch
        self._relay = Relay()
        self._batch_number = 0
        self._next_flush = self._next_beat = 0.0
        self._stop_seen: float | None = None
        self._why_stop = Wish.GO_ON
        self._out_of_time = False
        self._soft_limit = math.inf

    def run(self) -> None:
        """Run the child to its end and report how it ended."""
        claim = self._claim
        files = {} if claim.model_path is None else {"model": claim.model_path}
        if claim.checkpoint_path is not None:
            files["resume"] = claim.checkpoint_path
        arguments: dict[str, Any] = {
            "config": claim.config,
            "checkpoint_every": settings.PODIUM_CHECKPOINT_SECONDS,
        }
        if claim.model_path is None:
            arguments["model"] = claim.zoo
        limits = Limits(
            memory_bytes=settings.PODIUM_RUN_MEMORY_BYTES,
            cpu_seconds=8 * claim.wall_seconds,
            wall_seconds=claim.wall_seconds + GRACE_AFTER_LIMIT,
        )
        try:
            outcome = parent.run(
                Order("run", arguments, files, niceness=NICENESS),
                scratch=self._scratch, limits=limits, on_event=self._hear, on_tick=self._tick,
                on_ready=self._note_isolation,
            )  # fmt: skip
        except _Forced:
            outcome = Outcome("killed", code="job.cancelled")
        except _Malformed:
            text = "The process that ran the model sent a report that cannot be read. This is our fault."
            outcome = Outcome("killed", code="jail.protocol", message=text, owner="platform")
        self._finish(outcome)

    def _note_isolation(self, level: str) -> None:
        self._soft_limit = time.monotonic() + self._claim.wall_seconds
        self._relay.add(
            "log", {"level": "info", "message": f"The model runs in a process of its own, confined by {level}."}
        )

    def _hear(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "report":
            self._keep_report(data)
        elif kind == "checkpoint":
            self._keep_checkpoint(data)
        else:
            self._relay.add(kind, data)

    def _tick(self) -> bool:
        now = time.monotonic()
        if now >= self._next_flush:
            self._next_flush = now + FLUSH_EVERY
            self._flush()
        if now >= self._next_beat:
            self._next_beat = now + HEARTBEAT_EVERY
            self._note(self._persist(lambda: attempts.heartbeat(self._claim.attempt_id, self._claim.fence)))
        if now >= self._soft_limit and not self._out_of_time:
            self._tell_out_of_time()
        grace = GRACE_TO_SAVE if self._why_stop is Wish.HAND_BACK else GRACE_TO_STOP
        if self._stop_seen is not None and now - self._stop_seen > grace:
            raise _Forced
        return self._stop_seen is not None or self._out_of_time

    def _tell_out_of_time(self) -> None:
        """The limit of time: it is asked to save and end. What it says is kept; the jail kills it a little later."""
        self._out_of_time = True
        text = f"The limit of {self._claim.wall_seconds} seconds is reached: the run saves its state and ends."
        self._relay.add("log", {"level": "warning", "message": text})
        self._flush()

    def _flush(self) -> None:
        batch = self._relay.take()
        if batch.empty:
            return
        self._batch_number += 1
        stop = self._persist(
            lambda: attempts.record_events(
                self._claim.attempt_id,
                self._claim.fence,
                batch=self._batch_number,
                rows=batch.rows(),
                phase=batch.phase,
                progress=batch.progress,
                executing=batch.executing,
            )
        )
        if stop:
            self._note(Wish.STOP)

    def _note(self, wish: Wish) -> None:
        """A wish to stop stands above one to hand back; neither is taken back."""
        if wish is Wish.GO_ON or self._why_stop is Wish.STOP:
            return
        self._why_stop = wish
        if self._stop_seen is None:
            self._stop_seen = time.monotonic()

    def _keep_report(self, report: dict[str, Any]) -> None:
        try:
            summary = attempts.summarise(report, self._claim.config)
        except (KeyError, TypeError, ValueError) as error:
            raise _Malformed from error
        blob = storage.write_bytes(json.dumps(report, sort_keys=True, separators=(",", ":")).encode())
        self._flush()
        self._persist(
            lambda: attempts.record_report(self._claim.attempt_id, self._claim.fence, blob=blob, summary=summary)
        )

    def _keep_checkpoint(self, data: dict[str, Any]) -> None:
        step, name = data.get("step"), data.get("file")
        if not isinstance(step, int) or not isinstance(name, str):
            return
        try:
            with open_left_behind(self._scratch, name, MOST_ARTEFACT_BYTES) as stream:
                blob = storage.write_stream(stream)
        except OSError as error:
            log.warning("a checkpoint of attempt %s was not kept: %s", self._claim.attempt_id, error)
            return
        self._flush()
        self._persist(
            lambda: attempts.record_checkpoint(self._claim.attempt_id, self._claim.fence, step=step, blob=blob)
        )

    def _finish(self, outcome: Outcome) -> None:
        if outcome.diagnostics:
            log.info("stderr of attempt %s: %s", self._claim.attempt_id, outcome.diagnostics)
        self._flush()
        if self._gives_back(outcome):
            self._persist(
                lambda: attempts.hand_back(self._claim.attempt_id, self._claim.fence, isolation=outcome.isolation)
            )
            return
        artefacts = list(self._artefacts()) if outcome.status == "ok" else []
        self._persist(
            lambda: attempts.finish(
                self._claim.attempt_id,
                self._claim.fence,
                ending=self._ending(outcome),
                isolation=outcome.isolation,
                artefacts=artefacts,
            )
        )

    def _gives_back(self, outcome: Outcome) -> bool:
        """Whether the child ended because it was asked to give way, before it was done."""
        if self._why_stop is not Wish.HAND_BACK or self._out_of_time:
            return False
        stopped = isinstance(outcome.value, dict) and outcome.value.get("stopped")
        return outcome.code == "job.cancelled" or (outcome.status == "ok" and bool(stopped))

    def _ending(self, outcome: Outcome) -> Ending:
        stopped = outcome.status == "ok" and isinstance(outcome.value, dict) and outcome.value.get("stopped")
        if self._out_of_time and (stopped or outcome.code == "jail.wall"):
            limit = self._claim.wall_seconds
            return Ending(
                ok=False, code="job.time_limit", message=TIME_LIMIT.format(limit=limit), fault="limit",
                params={"limit": limit},
            )  # fmt: skip
        return _ending(outcome)

    def _artefacts(self) -> list[attempts.NewArtefact]:
        found = []
        for name, content_type in ARTEFACTS.items():
            try:
                with open_left_behind(self._scratch, name, MOST_ARTEFACT_BYTES) as stream:
                    found.append(attempts.NewArtefact(name, content_type, storage.write_stream(stream)))
            except FileNotFoundError:
                continue
        return found

    def _persist(self, write: Callable[[], T]) -> T:
        """Do a write; while the database is away, wait for it. Verbs make sure that a repeated write counts once."""
        deadline = time.monotonic() + DATABASE_PATIENCE
        while True:
            try:
                return write()
            except (OperationalError, InterfaceError):
                if time.monotonic() > deadline:
                    raise
                connections.close_all()
                time.sleep(0.5)


def _ending(outcome: Outcome) -> Ending:
    if outcome.status == "ok":
        return Ending(ok=True, result=outcome.value if isinstance(outcome.value, dict) else None)
    return Ending(
        ok=False,
        code=outcome.code,
        message=outcome.message,
        fault=outcome.owner,
        params=outcome.params,
    )
