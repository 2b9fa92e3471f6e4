"""Hostile files through the real inspecting task: each gets its clear answer, and the worker lives on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.workers.conftest import RunningWorker, tick_until
from tests.workers.hostile_models import EXPECTED, good
from tests.workers.test_runs import ended, submit

pytestmark = [pytest.mark.django_db(transaction=True, databases="__all__"), pytest.mark.timeout(420)]


def upload(actor: Any, name: str, content: bytes) -> Any:
    from portal import tenancy
    from portal.registry import uploads

    with tenancy.context(user_id=actor.user_id, org_ids=actor.org_ids):
        begun = uploads.begin(actor=actor, name=name, size=len(content))
        uploads.receive(actor=actor, upload_id=begun.id, offset=0, chunks=[content])
        return uploads.complete(actor=actor, upload_id=begun.id).id


def inspected(model_id: Any) -> Callable[[], Any]:
    from portal import tenancy
    from portal.registry.models import Model

    def look() -> Any:
        with tenancy.context(role="system"):
            model = Model.objects.get(id=model_id)
        return model if model.state != "inspecting" else None

    return look


def test_every_file_gets_its_answer_and_the_worker_lives(
    actor: Any, start_worker: Callable[..., RunningWorker]
) -> None:
    worker = start_worker()
    asked = {name: upload(actor, f"{name}.onnx", make()) for name, (make, _) in EXPECTED.items()}
    for name, model_id in asked.items():
        model = tick_until(inspected(model_id), seconds=120)
        expected = EXPECTED[name][1]
        assert expected in (model.state, "either"), (name, model.refusal, worker.log()[-2000:])
        if model.state == "refused":
            assert model.refusal["code"].startswith(("model.", "jail.memory", "jail.cpu", "jail.wall")), model.refusal
            assert len(model.refusal["detail"]) > 20
        else:
            assert model.summary["operators"]
    assert worker.process.poll() is None
    assert "root:" not in worker.log()
    after = tick_until(inspected(upload(actor, "after.onnx", good())), seconds=60)
    assert after.summary["parameters"] == 12

    # what was uploaded can be run
    config = {"task": "infer", "steps": 3, "batch": 1, "system": "pod4", "ipus": 1}
    job = tick_until(ended(submit(actor, model=str(after.id), config=config).id))
    assert job.state == "succeeded", (job.end_code, job.end_message, worker.log()[-3000:])
