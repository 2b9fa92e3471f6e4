"""A quiet scheduler for tests of jobs: no job of an earlier test is open, and one worker with known slots is alive."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest


@pytest.fixture(autouse=True)
def quiet(_database: None) -> None:
    """End what other tests left open, so that slots, slices and the queue are this test's own."""
    from portal.jobs import endings
    from portal.jobs.models import Attempt, Job, Worker
    from portal.jobs.states import FOLLOWS, TERMINAL, JobState
    from portal.tenancy import context

    with context(role="system"):
        Worker.objects.all().delete()
        Attempt.objects.filter(state__in=["dispatched", "running"]).update(state="withdrawn")
        for job in Job.objects.exclude(state__in=TERMINAL):
            endings.end_job(job, JobState.CANCELLED, endings.CANCELLED, since=list(FOLLOWS))


@pytest.fixture
def worker() -> UUID:
    """A live worker with two slots."""
    import simulator
    from portal.jobs import workers
    from portal.tenancy import uuid7

    identity = uuid7()
    workers.announce(
        worker_id=identity, name=f"w-{identity}", slots=2, engine_release=simulator.ENGINE_RELEASE, isolation="test"
    )  # fmt: skip
    return identity


@pytest.fixture
def submit(person: Any) -> Callable[..., Any]:
    """Submit a small training run of the zoo, as `person` unless told otherwise."""
    from portal.jobs import services

    def act(**values: Any) -> Any:
        who = values.pop("who", person)
        config = {"task": "train", "steps": 10, "batch": 4, "system": "pod16", "ipus": 1, **values.pop("config", {})}
        with who.opened():
            return services.submit(actor=who.actor, **{"model": "zoo:mnist", "config": config, **values})

    return act


@pytest.fixture
def start(submit: Callable[..., Any], worker: UUID) -> Callable[..., Any]:
    """Submit, hand out and claim; gives (job, claim)."""
    from portal.jobs import scheduling
    from tests.portal.jobs.looking import claim_of, read

    def act(**values: Any) -> Any:
        job = submit(**values)
        scheduling.dispatch()
        return read(job.id), claim_of(job.id, worker)

    return act
