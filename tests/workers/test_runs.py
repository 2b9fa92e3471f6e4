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


def test_inference_an_estimate_and_a_cancelled_run(actor: Any, start_worker: Callable[..., RunningWorker]) -> None:
    worker = start_worker()

    inference = {"task": "infer", "steps": 5, "batch": 1, "system": "pod4", "ipus": 1}
    job = tick_until(ended(submit(actor, config=inference, suite="infer-latency-mnist").id))
    assert (job.state, job.end_code) == ("succeeded", "job.succeeded"), worker.log()[-3000:]
    assert job.result["latency_seconds"] > 0
    # the row follows in a round of the ticker, which may come after the one that saw the end
    assert tick_until(lambda: on_board(job.id)) == pytest.approx(job.result["latency_seconds"] * 1e6)
    assert files_of(job.id) == ["outputs.npz", "report.json"]

    estimate = tick_until(answered(ask(actor, TRAINING).id))
    assert estimate.state == "ready", estimate.error
    assert estimate.estimate["fits"] is True

    endless = submit(actor, config={**TRAINING, "steps": 1_000_000})
    tick_until(lambda: read(endless.id).state == "running")
    cancel(actor, endless.id)
    stopped = tick_until(ended(endless.id), seconds=30)
    assert (stopped.state, stopped.end_fault) == ("cancelled", "user")
    tick_until(lambda: worker.jailed() == [], seconds=15)

    huge = {**TRAINING, "batch": 60_000, "dataset": "synthetic"}
    refused = tick_until(ended(submit(actor, config=huge).id), seconds=120)
    assert (refused.state, refused.end_code, refused.end_fault) == ("failed", "memory.does_not_fit", "user")
    assert refused.result["fits"] is False
    assert refused.captured_microcredits == 0


def on_board(job_id: Any) -> float | None:
    from portal.benchmarks.models import BoardEntry

    return BoardEntry.objects.filter(job_id=job_id).values_list("value", flat=True).first()


def files_of(job_id: Any) -> list[str]:
    from portal import tenancy
    from portal.jobs.models import Artefact

    with tenancy.context(role="system"):
        return list(Artefact.objects.filter(job_id=job_id).order_by("name").values_list("name", flat=True))


def ask(actor: Any, config: dict[str, Any]) -> Any:
    from portal import tenancy
    from portal.jobs import estimates

    with tenancy.context(user_id=actor.user_id, org_ids=actor.org_ids):
        return estimates.ask(actor=actor, model="zoo:mnist", config=config)


def answered(estimate_id: Any) -> Callable[[], Any]:
    from portal import tenancy
    from portal.jobs.models import Estimate

    def look() -> Any:
        with tenancy.context(role="system"):
            row = Estimate.objects.get(id=estimate_id)
        return row if row.state != "pending" else None

    return look


def cancel(actor: Any, job_id: Any) -> None:
    from portal import tenancy
    from portal.jobs import services

    with tenancy.context(user_id=actor.user_id, org_ids=actor.org_ids):
        services.cancel(actor=actor, job_id=job_id)


def test_at_its_limit_of_time_a_run_is_saved_and_its_log_kept(
    actor: Any, start_worker: Callable[..., RunningWorker], settings: Any
) -> None:
    settings.PODIUM_JOB_WALL_SECONDS = 8
    start_worker()
    job = tick_until(ended(submit(actor, config={**TRAINING, "steps": 200_000}).id))
    assert (job.state, job.end_code, job.end_fault) == ("timed_out", "job.time_limit", "limit")
    assert "8 seconds" in job.end_message
    events = story_of(job.id)
    lines = [line["message"] for event in events for line in event["data"].get("lines", ())]
    assert any("limit of 8 seconds is reached" in line for line in lines), lines
    assert any(event["kind"] == "metrics" for event in events)
    assert events[-1]["kind"] == "ended"
