"""kill -9 in the middle of attempts: the job goes on from its checkpoint, ends right, once, its story without a gap."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import psutil
import pytest

import simulator
from tests.workers.conftest import RunningWorker, tick_until
from tests.workers.test_runs import ended, read, story_of, submit

pytestmark = [pytest.mark.django_db(transaction=True, databases="__all__"), pytest.mark.timeout(420)]
LONG = {"task": "train", "steps": 400, "batch": 8, "system": "pod4", "ipus": 4, "dataset": "synthetic", "seed": 5}
IMPATIENT = {"PODIUM_LEASE_SECONDS": "6", "PODIUM_CHECKPOINT_SECONDS": "0.5"}


def checkpointed(job_id: Any, *, attempt: int) -> Callable[[], Any]:
    """Whether that attempt has left a checkpoint."""
    from portal import tenancy
    from portal.jobs.models import Checkpoint

    def look() -> bool:
        with tenancy.context(role="system"):
            return Checkpoint.objects.filter(job_id=job_id, attempt_number=attempt, step__gte=10).exists()

    return look


def kill(process: int, *, with_it: list[psutil.Process]) -> None:
    os.kill(process, signal.SIGKILL)
    _, alive = psutil.wait_procs(with_it, timeout=10)
    assert alive == [], "what the killed process had started lives on"


def test_killed_workers_cost_nothing_but_time(actor: Any, start_worker: Callable[..., RunningWorker]) -> None:
    worker = start_worker(**IMPATIENT)
    job_id = submit(actor, config=LONG).id

    tick_until(checkpointed(job_id, attempt=1), seconds=120)
    (jailed,) = worker.jailed()
    holder = jailed.parent()
    kill(holder.pid, with_it=[holder, jailed])  # a process of the pool

    tick_until(checkpointed(job_id, attempt=2), seconds=120)
    (jailed,) = worker.jailed()
    kill(worker.process.pid, with_it=[jailed.parent(), jailed])  # then the whole worker
    worker.process.wait()
    start_worker(**IMPATIENT)
    job = tick_until(ended(job_id), seconds=240)

    assert job.state == "succeeded", (job.end_code, job.end_message)
    assert job.attempts_made == 3
    events = story_of(job_id)
    assert [event["seq"] for event in events] == list(range(1, job.seq + 1))
    assert [event["kind"] for event in events].count("ended") == 1
    resumed = [event["data"]["resume_step"] for event in events if event["kind"] == "attempt_started"]
    assert resumed[0] == 0 < resumed[1] < resumed[2]
    last = [point["step"] for event in events if event["attempt"] == 3 for point in event["data"].get("points", ())]
    assert min(last) > resumed[2]
    assert max(last) == LONG["steps"]
    undisturbed = simulator.run("zoo:mnist", simulator.RunConfig.from_dict(job.config), on_event=lambda *_: None)
    assert job.result["final_loss"] == pytest.approx(undisturbed.losses[-1][1], rel=1e-3)
    assert read(job_id).captured_microcredits > 0


def test_a_worker_that_is_stopped_hands_back_at_once(actor: Any, start_worker: Callable[..., RunningWorker]) -> None:
    from portal import tenancy
    from portal.jobs.models import Attempt

    patient = {"PODIUM_LEASE_SECONDS": "120", "PODIUM_CHECKPOINT_SECONDS": "0.5"}
    worker = start_worker(**patient)
    job_id = submit(actor, config=LONG).id
    tick_until(checkpointed(job_id, attempt=1), seconds=120)
    os.killpg(worker.process.pid, signal.SIGTERM)  # as the launcher does, to the whole group
    worker.process.wait(timeout=30)
    given = read(job_id)
    # by now the round that followed may have seen that no other worker is there
    assert given.state == "queued", worker.log()[-3000:]
    assert given.waiting_for in ("worker.handed_back", "worker.none")
    start_worker(**patient)
    job = tick_until(ended(job_id), seconds=240)
    assert (job.state, job.attempts_made) == ("succeeded", 2), (job.end_code, job.end_message)
    events = story_of(job_id)
    assert [event["seq"] for event in events] == list(range(1, job.seq + 1))
    steps = [point["step"] for event in events for point in event["data"].get("points", ())]
    assert sorted(steps) == sorted(set(steps)), "no step was made twice"
    with tenancy.context(role="system"):
        states = list(Attempt.objects.filter(job_id=job_id).order_by("number").values_list("state", flat=True))
    assert states == ["handed_back", "ended"]
