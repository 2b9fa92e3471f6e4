"""What the broker carries: a task's name and one id, as JSON. Anything else is not run."""

from __future__ import annotations

import base64
import json
import pickle
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.workers.conftest import RunningWorker, tick_until
from tests.workers.test_runs import submit

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


class Marker:
    """Unpickling this writes a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.write_text, (self._path, "unpickled")


def test_a_message_holds_a_name_and_an_id(actor: Any) -> None:
    from django.conf import settings

    from portal.jobs import scheduling, workers
    from portal.tenancy import uuid7

    workers.announce(worker_id=uuid7(), name="nobody", slots=1, engine_release="t", isolation="t")
    job = submit(actor, name="a private name")
    assert scheduling.dispatch() == 1
    broker = redis.Redis.from_url(settings.REDIS_URL)
    message = json.loads(broker.lindex("run", 0))
    args, kwargs, _ = json.loads(base64.b64decode(message["body"]))
    assert (len(args), kwargs) == (1, {})
    assert uuid.UUID(args[0])
    assert "a private name" not in base64.b64decode(message["body"]).decode()
    assert message["content-type"] == "application/json"
    assert str(job.id) not in args
    broker.delete("run")


def test_a_pickled_message_is_never_opened(
    actor: Any, start_worker: Callable[..., RunningWorker], tmp_path: Path
) -> None:
    from django.conf import settings

    from portal.queue import RUN_ATTEMPT, app

    worker = start_worker()
    trap = tmp_path / "trap"
    broker = redis.Redis.from_url(settings.REDIS_URL)
    with app.connection_for_write() as connection:
        sample = connection.channel().prepare_message(
            pickle.dumps(((Marker(trap),), {}, {})),
            content_type="application/x-python-serialize",
            content_encoding="binary",
            headers={"task": RUN_ATTEMPT, "id": str(uuid.uuid4()), "lang": "py", "argsrepr": "", "kwargsrepr": ""},
            properties={"delivery_tag": str(uuid.uuid4()), "delivery_info": {"exchange": "run", "routing_key": "run"}},
        )
    sample["body"] = base64.b64encode(pickle.dumps(((Marker(trap),), {}, {}))).decode()
    sample["properties"]["body_encoding"] = "base64"
    broker.lpush("run", json.dumps(sample))
    tick_until(lambda: broker.llen("run") == 0, seconds=30)
    tick_until(
        lambda: "application/x-python-serialize" in worker.log() or "ContentDisallowed" in worker.log(), seconds=30
    )
    assert not trap.exists()
    assert worker.process.poll() is None


def test_an_unknown_attempt_does_nothing(actor: Any, start_worker: Callable[..., RunningWorker]) -> None:
    from portal import queue, tenancy
    from portal.tenancy import uuid7

    worker = start_worker()
    with tenancy.context(role="system"):
        queue.enqueue(queue.RUN_ATTEMPT, uuid7())
    tick_until(lambda: "succeeded in" in worker.log(), seconds=30)
    assert worker.jailed() == []
