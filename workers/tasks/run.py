"""The task that runs one attempt at a job."""

from __future__ import annotations

from uuid import UUID

from portal.queue import RUN_ATTEMPT, app
from workers import presence
from workers.attempt import run_attempt


@app.task(name=RUN_ATTEMPT)
def run(attempt_id: str) -> None:
    """Claim the attempt and run it to its end; a message for one that is taken or withdrawn does nothing."""
    run_attempt(UUID(attempt_id), worker_id=presence.worker_id(), worker_name=presence.worker_name())
