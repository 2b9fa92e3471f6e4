"""Hands work to Celery: a task's name and one id, as JSON, after commit.

PostgreSQL is the truth, so a lost message is no loss.
"""

import logging
from typing import Any
from uuid import UUID

from portal.queue.broker import app
from portal.queue.names import ESTIMATE, INSPECT_MODEL, ROUTES, RUN_ATTEMPT
from portal.tenancy import on_commit

logger = logging.getLogger(__name__)

__all__ = ["ESTIMATE", "INSPECT_MODEL", "ROUTES", "RUN_ATTEMPT", "app", "enqueue"]


def enqueue(task: str, row_id: UUID | str) -> None:
    """Send `task` with the id of its row once the open transaction has committed; the ticker repeats what got lost."""
    on_commit(lambda: _send(task, str(row_id)))


def _send(task: str, row_id: str) -> Any:
    try:
        return app.send_task(task, args=[row_id], queue=ROUTES[task], ignore_result=True)
    except app.connection_for_write().connection_errors as error:
        logger.warning("%s(%s) was not sent, the ticker will: %s", task, row_id, error)
        return None
