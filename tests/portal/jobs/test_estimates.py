"""Estimates: asked once, answered by a worker, then known; and what a hold does with them."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from portal.errors import PodiumError
from portal.jobs import estimates
from portal.jobs.models import Estimate
from portal.tenancy import context
from tests.portal.jobs.looking import REPORT

BODY = {"model": "zoo:mnist", "config": {"task": "train", "steps": 100, "system": "pod16", "ipus": 2}}
ANSWER = {
    **REPORT,
    "memory": {"worst_tile": {"bytes": 1000}, "bytes_per_tile": 638_976, "overflow": None},
    "time": {"bound_by": "exchange", "sentence": "Exchange binds it."},
    "parallel": {"micro_batch": 16, "replicas": 2, "global_batch": 32},
}


def ask(client, body=BODY):
    return client.post("/api/v1/estimates", body, content_type="application/json")


def test_asked_answered_known(person):
    browser = person.browser()
    first = ask(browser)
    assert (first.status_code, first.json()["state"], first.json()["estimate"]) == (202, "pending", None)
    assert estimates.question(first.json()["id"]).zoo == "zoo:mnist"
    estimates.answer(first.json()["id"], ANSWER)
    again = ask(browser)
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    found = again.json()["estimate"]
    assert found["total_simulated_seconds"] == pytest.approx(0.1)
    # 0.1 s on two IPUs at a million micro-credits an hour, rounded up
    assert found["price_microcredits"] == 56
    assert found["memory"] == {"worst_tile_bytes": 1000, "bytes_per_tile": 638_976, "over_by": 0}
    assert found["batch_equation"] == {"micro_batch": 16, "replicas": 2, "global_batch": 32}
    assert browser.get(f"/api/v1/estimates/{first.json()['id']}").json() == again.json()
    assert estimates.question(first.json()["id"]) is None


def test_another_setting_is_another_question(person):
    browser = person.browser()
    ids = {ask(browser, {**BODY, "config": {**BODY["config"], "batch": size}}).json()["id"] for size in (8, 16, 16)}
    assert len(ids) == 2


def test_an_estimate_makes_the_hold_exact(person, submit):
    config = {**BODY["config"], "batch": 4}
    asked = ask(person.browser(), {**BODY, "config": config}).json()
    unknown = submit(config=config).held_microcredits
    estimates.answer(asked["id"], ANSWER)
    known = submit(config=config).held_microcredits
    assert 56 <= known <= 60 < unknown


def test_why_there_is_none_is_told(person):
    asked = ask(person.browser()).json()
    estimates.fail(asked["id"], PodiumError("model.too_odd", "Too odd.", params={"n": 1}))
    told = person.browser().get(f"/api/v1/estimates/{asked['id']}").json()
    assert (told["state"], told["error"]) == (
        "failed",
        {"code": "model.too_odd", "detail": "Too odd.", "params": {"n": 1}},
    )


def test_a_question_that_nobody_answers_is_given_up(person):
    asked = ask(person.browser()).json()
    with context(role="system"):
        Estimate.objects.filter(id=asked["id"]).update(
            sent_at=Now() - timedelta(minutes=1), asked_at=Now() - timedelta(minutes=10)
        )
    estimates.send_again()
    told = person.browser().get(f"/api/v1/estimates/{asked['id']}").json()
    assert (told["state"], told["error"]["code"]) == ("failed", "estimate.no_worker")


def test_bad_settings_are_refused_before_any_work(person):
    refused = ask(person.browser(), {**BODY, "config": {"task": "juggle"}})
    assert (refused.status_code, refused.json()["code"]) == (422, "config.invalid")
