"""The task that inspects an uploaded model in the jail and has it accepted or refused."""

from __future__ import annotations

import logging
from uuid import UUID

from portal import storage
from portal.queue import INSPECT_MODEL, app
from portal.registry import services as registry
from workers import presence
from workers.jail import parent
from workers.jail.limits import GIB, Limits
from workers.jail.parent import Order
from workers.jail.scratch import scratch_folder

log = logging.getLogger(__name__)
LIMITS = Limits(memory_bytes=3 * GIB, cpu_seconds=120, wall_seconds=90)


@app.task(name=INSPECT_MODEL)
def inspect(model_id: str) -> None:
    """Read the file where it can do no harm; a model that was inspected already is left alone."""
    model = registry.to_inspect(model_id=UUID(model_id))
    if model is None:
        return
    order = Order("inspect", {"name": model.name}, {"model": storage.path(model.sha256)})
    with scratch_folder(presence.scratch_home()) as scratch:
        outcome = parent.run(order, scratch=scratch, limits=LIMITS)
    if outcome.diagnostics:
        log.info("stderr while inspecting %s: %s", model_id, outcome.diagnostics)
    if outcome.status == "ok":
        registry.accept(model_id=model.id, summary=outcome.value)
    else:
        registry.refuse(model_id=model.id, code=outcome.code, detail=outcome.message, params=outcome.params)
