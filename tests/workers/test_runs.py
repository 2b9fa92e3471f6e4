"""A job's whole way: submitted, handed to a real worker, run in the jail, told as events, ended once and paid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.workers.conftest import RunningWorker, tick_until

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")
TRAINING = {"task": "train", "steps": 30, "batch": 4, "system": "pod4", "ipus": 2, "dataset": "digits"}


def submit(actor: Any, **values: Any) -> Any:
    from portal import tenancy
    from portal.jobs import services

    request = {"model": "zoo:mnist", "config": TRAINING, **values}
    with tenancy.context(user_id=actor.user_id, org_ids=actor.org_ids):
        return services.submit(actor=actor, **request)


def read(job_id: Any) -> Any:
    from portal import tenancy
    from portal.jobs.models import Job

    with tenancy.context(role="system"):
        return Job.objects.get(id=job_id)


def story_of(job_id: Any) -> list[dict[str, Any]]:
    from portal import tenancy
    from portal.jobs import story

    with tenancy.context(role="system"):
        return story.read(job_id, after=0, limit=100_000)


def ended(job_id: Any) -> Callable[[], Any]:
    from portal.jobs.states import TERMINAL

    return lambda: (job := read(job_id)).state in TERMINAL and job


def test_a_training_run_of_the_zoo(actor: Any, start_worker: Callable[[], RunningWorker]) -> None:
    worker = start_worker()
    job = tick_until(ended(submit(actor).id))
    assert job.state == "succeeded", (job.end_code, job.end_message, worker.log()[-3000:])
    events = story_of(job.id)
    assert [event["seq"] for event in events] == list(range(1, job.seq + 1))
    assert [event["data"]["state"] for event in events if event["kind"] == "state"] == [
        "queued", "allocating", "compiling", "running", "succeeded",
    ]  # fmt: skip
    points = [point for event in events if event["kind"] == "metrics" for point in event["data"]["points"]]
    assert [points[0]["step"], points[-1]["step"]] == [1, 30]
    assert events[-1]["kind"] == "ended"
    assert job.result["final_loss"] == pytest.approx(points[-1]["loss"])
    assert job.result["samples_per_second"] > 0
