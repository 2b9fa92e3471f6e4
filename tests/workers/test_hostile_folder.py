"""Every file of the folder of hostile uploads through the portal: uploaded, inspected in a jail, answered."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator import hostile
from tests.simulator.onnx_models import needs_shared
from tests.workers.conftest import RunningWorker, tick_until
from tests.workers.test_inspect import inspected, upload

pytestmark = [
    needs_shared,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True, databases="__all__"),
    pytest.mark.timeout(900),
]
# a jail is given an open file, not the folder that it lies in
IN_A_JAIL = {"98_ext_self": "model.external_data_missing"}


def test_every_file_gets_its_answer_through_the_portal(actor: Any, start_worker: Callable[..., RunningWorker]) -> None:
    hostile.PICKLE_RAN.unlink(missing_ok=True)
    worker, wrong = start_worker(), {}
    for path in hostile.files():
        content = path.read_bytes()
        if not content:
            continue  # an upload of nothing is refused before it is stored
        began = time.monotonic()
        model = tick_until(inspected(upload(actor, path.name, content)), seconds=60)
        name = hostile.key(path.name)
        expected = IN_A_JAIL.get(name, hostile.EXPECTED[name])
        found = model.refusal["code"] if model.state == "refused" else None
        if found != expected or time.monotonic() - began > 3 * hostile.SECONDS:
            wrong[path.name] = (found, expected, time.monotonic() - began)
    assert wrong == {}
    assert worker.process.poll() is None
    assert not hostile.PICKLE_RAN.exists()
