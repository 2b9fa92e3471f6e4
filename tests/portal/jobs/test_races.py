"""Many at the same moment: the last credit, the last place, the same number; and lists that cost the same for more."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from portal.credits.models import Account
from portal.errors import PodiumError
from portal.jobs import scheduling, services
from portal.jobs.models import Attempt, Job
from portal.tenancy import context
from tests.portal.jobs.looking import wallet


def at_once(count: int, act: Callable[[], Any]) -> list[Any]:
    """Call `act` in `count` threads together; results and refusals."""
    barrier, results = threading.Barrier(count), []

    def one() -> None:
        barrier.wait()
        try:
            results.append(act())
        except PodiumError as refused:
            results.append(refused.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def jobs_of(person) -> list[Job]:
    with context(role="system"):
        return list(Job.objects.filter(org_id=person.org_id).order_by("number"))


def test_the_last_credit_is_spent_once(person, submit):
    price = submit().held_microcredits
    with context(role="system"):
        Account.objects.filter(org_id=person.org_id, kind="wallet").update(balance=price)
    results = at_once(50, submit)
    assert sorted(str(result) for result in results if isinstance(result, str)) == ["credits.insufficient"] * 49
    assert wallet(person.org_id)[0] == 0
    assert len(jobs_of(person)) == 2


def test_the_last_place_is_taken_once(person, submit, monkeypatch):
    monkeypatch.setattr(services, "MOST_OPEN_JOBS", 3)
    results = at_once(50, submit)
    assert [result for result in results if isinstance(result, str)] == ["quota.open_jobs"] * 47


def test_numbers_are_given_once(person, submit):
    at_once(6, submit)
    assert [job.number for job in jobs_of(person)] == list(range(1, 7))


def test_cancelled_many_times_is_cancelled_once(person, submit):
    job = submit()
    free = wallet(person.org_id)[0] + job.held_microcredits

    def cancel() -> str:
        with person.opened():
            return services.cancel(actor=person.actor, job_id=job.id).state

    assert at_once(50, cancel) == ["cancelled"] * 50
    assert wallet(person.org_id) == (free, 0)


def test_the_last_slot_is_given_once(person, submit, worker):
    """S-62: fifty schedulers at the same moment, two slots."""
    jobs = [submit() for _ in range(4)]
    at_once(50, scheduling.dispatch)
    with context(role="system"):
        handed = Attempt.objects.filter(job_id__in=[job.id for job in jobs], state="dispatched").count()
    assert handed == 2


@pytest.mark.parametrize("path", ["jobs", "suites"])
def test_more_rows_do_not_mean_more_queries(person, submit, path):
    browser = person.browser()

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(f"/api/v1/{path}").status_code == 200
        return len(captured)

    submit()
    few = queries()
    for _ in range(5):
        submit()
    assert queries() <= few
