"""What a crash may not do: lose a job, run it to two ends, or leave a gap or a duplicate in its events."""

import os
import signal
from typing import Any

import psutil
import pytest

from tests.e2e.people import Person, join, wait_for
from tests.e2e.processes import process_of
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
LONG = {
    "task": "train", "dataset": "digits", "system": "pod4", "ipus": 1, "batch": 16, "steps": 900, "seed": 3,
    "learning_rate": 0.02,
}  # fmt: skip


@pytest.fixture(scope="module")
def person(stack: Stack) -> Person:
    return join(stack, "crash")


def launch(person: Person) -> str:
    answer = person.api.post("/api/v1/jobs", json={"model": "zoo:mnist", "config": LONG})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def events_of(person: Person, job_id: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    while True:
        after = events[-1]["seq"] if events else 0
        page = person.api.get(f"/api/v1/jobs/{job_id}/events", params={"after": after, "limit": 500}).json()
        events += page["results"]
        if not page["results"]:
            return events


def steps_so_far(person: Person, job_id: str) -> int:
    points = [p for e in events_of(person, job_id) if e["kind"] == "metrics" for p in e["data"]["points"]]
    return points[-1]["step"] if points else 0


def wait_for_end(person: Person, job_id: str) -> dict[str, Any]:
    def ended() -> dict[str, Any] | None:
        job = person.api.get(f"/api/v1/jobs/{job_id}").json()
        return job if job["state"] in ("succeeded", "failed", "cancelled", "timed_out") else None

    return wait_for(ended, seconds=150, what="the job's end")


def losses(events: list[dict[str, Any]]) -> dict[int, float]:
    """Loss by step as a reader keeps it: a new attempt drops what it does again."""
    kept: dict[int, float] = {}
    for event in events:
        if event["kind"] == "attempt_started":
            kept = {step: loss for step, loss in kept.items() if step <= event["data"]["resume_step"]}
        if event["kind"] == "metrics":
            for point in event["data"]["points"]:
                assert point["step"] not in kept, "a step was told twice"
                kept[point["step"]] = point["loss"]
    return kept


@pytest.fixture(scope="module")
def undisturbed(person: Person) -> dict[str, Any]:
    """The same run with nothing killed."""
    return wait_for_end(person, launch(person))


def test_a_job_whose_worker_is_killed_runs_again_and_ends_right_once(
    stack: Stack, person: Person, undisturbed: dict[str, Any]
) -> None:
    job_id = launch(person)
    wait_for(lambda: steps_so_far(person, job_id) > 50, what="the first steps")
    worker = process_of(stack, "worker")
    for process in [*worker.children(recursive=True), worker]:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    job = wait_for_end(person, job_id)
    events = events_of(person, job_id)
    assert (job["state"], job["attempt"]) == ("succeeded", 2)
    assert [event["seq"] for event in events] == list(range(1, job["last_seq"] + 1))
    assert [event["kind"] for event in events].count("ended") == 1
    assert [event["kind"] for event in events].count("attempt_started") == 2
    assert max(losses(events)) == LONG["steps"]
    assert job["result"]["final_loss"] == undisturbed["result"]["final_loss"]
    assert job["price"]["captured_microcredits"] == undisturbed["price"]["captured_microcredits"]


def test_a_job_outlives_a_crash_of_the_database(stack: Stack, person: Person, undisturbed: dict[str, Any]) -> None:
    job_id = launch(person)
    wait_for(lambda: steps_so_far(person, job_id) > 50, what="the first steps")
    os.kill(process_of(stack, "postgres").pid, signal.SIGKILL)
    wait_for(lambda: person.api.get("/api/v1/systems").status_code == 200, what="the database's return")
    job = wait_for_end(person, job_id)
    events = events_of(person, job_id)
    assert job["state"] == "succeeded"
    assert [event["seq"] for event in events] == list(range(1, job["last_seq"] + 1))
    assert [event["kind"] for event in events].count("ended") == 1
    assert job["result"]["final_loss"] == undisturbed["result"]["final_loss"]
