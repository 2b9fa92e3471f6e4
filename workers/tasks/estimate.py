"""The task that works out an estimate in the jail."""

from __future__ import annotations

import logging
from typing import Any
from uuid import UUID

from portal.errors import PodiumError
from portal.jobs import estimates
from portal.queue import ESTIMATE, app
from workers import presence
from workers.jail import parent
from workers.jail.limits import GIB, Limits
from workers.jail.parent import Order
from workers.jail.scratch import scratch_folder

log = logging.getLogger(__name__)
LIMITS = Limits(memory_bytes=4 * GIB, cpu_seconds=240, wall_seconds=150)


@app.task(name=ESTIMATE)
def estimate(estimate_id: str) -> None:
    """Simulate without executing; a question that was answered already is left alone."""
    question = estimates.question(UUID(estimate_id))
    if question is None:
        return
    arguments: dict[str, Any] = {"config": question.config}
    files = {} if question.model_path is None else {"model": question.model_path}
    if question.model_path is None:
        arguments["model"] = question.zoo
    with scratch_folder(presence.scratch_home()) as scratch:
        outcome = parent.run(Order("estimate", arguments, files), scratch=scratch, limits=LIMITS)
    if outcome.diagnostics:
        log.info("stderr while estimating %s: %s", estimate_id, outcome.diagnostics)
    if outcome.status == "ok":
        estimates.answer(UUID(estimate_id), outcome.value)
    else:
        estimates.fail(UUID(estimate_id), PodiumError(outcome.code, outcome.message, params=outcome.params))
