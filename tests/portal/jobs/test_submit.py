"""Launching over HTTP: what is checked, what it costs, what is refused and in which words."""

from datetime import timedelta

import pytest
from django.utils import timezone

from portal.jobs import services
from portal.pods.models import Pod
from portal.registry.models import Model
from portal.reservations import services as reservations
from portal.tenancy import Role, context, uuid7
from tests.portal.jobs.looking import claim_of, events_of, finish, log, read, report, wallet

BODY = {"model": "zoo:mnist", "config": {"task": "train", "steps": 10, "batch": 4, "system": "pod16", "ipus": 2}}


def post(client, body=None, path="jobs", **headers):
    return client.post(f"/api/v1/{path}", body or BODY, content_type="application/json", headers=headers)


def body(**config):
    return {"model": config.pop("model", "zoo:mnist"), "config": {**BODY["config"], **config}}


def upload(person, **values) -> Model:
    with person.opened():
        return Model.objects.create(
            org_id=person.org_id, project_id=person.project_id, name="m.onnx", sha256="0" * 64, bytes=1,
            created_by=person.user, **values,
        )  # fmt: skip


def test_a_job_is_queued_with_its_first_event(person):
    made = post(person.browser())
    assert made.status_code == 201, made.content
    job = made.json()
    assert (job["state"], job["number"], job["attempt"], job["last_seq"], job["end"]) == ("queued", 1, 0, 1, None)
    assert job["model"] == {
        "id": None, "zoo": "zoo:mnist", "name": "MNIST convolutional network", "sha256": "",
    }  # fmt: skip
    assert (job["system"], job["ipus"], job["config"]["learning_rate"]) == ("pod16", 2, 0.01)
    assert job["created_by"]["id"] == str(person.user.id)
    assert [event["kind"] for event in events_of(job["id"])] == ["state"]
    assert post(person.browser()).json()["number"] == 2


def test_a_bare_number_of_ipus_runs_on_the_smallest_system_that_has_them(person):
    made = post(person.browser(), body(system="ipus:8", ipus=None))
    assert made.status_code == 201, made.content
    assert (made.json()["system"], made.json()["ipus"]) == ("pod16", 8)
    refused = post(person.browser(), body(system="ipus:6", ipus=None))
    assert (refused.status_code, refused.json()["code"]) == (422, "system.size")
    assert refused.json()["errors"][0]["field"] == "config.system"


def test_credits_are_held_and_the_rest_comes_back(person, submit, worker):
    from portal.jobs import scheduling

    free, _ = wallet(person.org_id)
    job = submit()
    assert wallet(person.org_id) == (free - job.held_microcredits, job.held_microcredits)
    scheduling.dispatch()
    claim = claim_of(job.id, worker)
    report(claim)
    finish(claim)
    # 10 steps of 1 ms on one IPU of a pod16, at a million micro-credits an hour
    assert read(job.id).captured_microcredits == 3
    assert wallet(person.org_id) == (free - 3, 0)


def test_a_cancelled_run_pays_for_the_steps_that_were_made(person, start):
    job, claim = start(config={"steps": 1000})
    report(claim, step_seconds=1.0)
    log(claim, 1, progress={"done": 250, "total": 1000}, executing=True)
    with person.opened():
        services.cancel(actor=person.actor, job_id=job.id)
    finish(claim)
    assert read(job.id).captured_microcredits == pytest.approx(250 / 3600 * 1_000_000, abs=2)


def test_a_costly_run_holds_more_once_the_time_is_known(start):
    job, claim = start(config={"steps": 1000})
    report(claim, step_seconds=10.0)
    held = read(job.id).held_microcredits
    assert held > job.held_microcredits
    finish(claim)
    assert read(job.id).captured_microcredits == held


def test_a_run_that_nobody_can_pay_for_stops(person, start):
    free, _ = wallet(person.org_id)
    job, claim = start(config={"steps": 1_000_000})
    report(claim, step_seconds=100.0)
    assert read(job.id).state == "cancelling"
    finish(claim)
    ended = read(job.id)
    assert (ended.state, ended.end_code, ended.end_fault) == ("timed_out", "credits.insufficient", "limit")
    assert wallet(person.org_id) == (free, 0)


def test_too_few_credits_are_refused(person):
    from portal.credits.models import Account

    with context(role="system"):
        Account.objects.filter(org_id=person.org_id, kind="wallet").update(balance=1)
    refused = post(person.browser())
    assert (refused.status_code, refused.json()["code"]) == (402, "credits.insufficient")


@pytest.mark.parametrize(
    ("config", "code", "field"),
    [
        ({"batch": 0}, "config.invalid", "config.batch"),
        ({"colour": "red"}, "config.invalid", "config.colour"),
        ({"optimiser": "magic"}, "config.invalid", "config.optimiser"),
        ({"system": "pod9000"}, "config.invalid", "config.system"),
        ({"ipus": 3}, "config.invalid", "config.ipus"),
        ({"ipus": 64}, "config.invalid", "config.ipus"),
        ({"model": "zoo:nothing"}, "model.unknown", "model"),
        ({"model": "zoo:gather"}, "model.not_trainable", "config.task"),
        ({"model": "not an id"}, "model.unknown", "model"),
        ({"model": str(uuid7())}, "model.unknown", "model"),
    ],
)
def test_what_cannot_be_run_is_refused_by_field(person, config, code, field):
    refused = post(person.browser(), body(**config))
    problem = refused.json()
    assert (refused.status_code, problem["code"]) == (422, code), problem
    assert [error["field"] for error in problem["errors"]] == [field]


def test_only_accepted_models_run(person):
    inspecting = upload(person)
    refused = upload(person, state="refused", refusal={"code": "x", "detail": "y", "params": {}})
    fixed = upload(person, state="accepted", summary={"trainable": False, "operators": [], "parameters": 1})
    for model in (inspecting, refused):
        assert post(person.browser(), body(model=str(model.id))).json()["code"] == "model.not_accepted"
    assert post(person.browser(), body(model=str(fixed.id))).json()["code"] == "model.not_trainable"
    made = post(person.browser(), body(model=str(fixed.id), task="infer"))
    assert (made.status_code, made.json()["model"]["id"]) == (201, str(fixed.id))


def test_a_size_that_is_open_is_asked_for_before_a_job_is_made(person):
    summary = {"trainable": False, "operators": [], "parameters": 1, "symbolic_dims": ["frames", "words"]}
    model = str(upload(person, state="accepted", summary=summary).id)
    refused = post(person.browser(), body(model=model, task="infer", dims={"words": 8})).json()
    assert (refused["status"], refused["code"], refused["params"]) == (422, "model.needs_dims", {"dims": ["frames"]})
    assert [error["field"] for error in refused["errors"]] == ["config.dims.frames"]
    assert post(person.browser(), body(model=model, task="infer", dims={"words": 8, "frames": 9})).status_code == 201


def test_reservations_are_kept_to(person):
    pod = Pod.objects.get(slug="pod128")

    def reserve(begins: timedelta):
        with person.opened():
            return reservations.reserve(
                actor=person.actor, pod_id=pod.id, ipus=4, starts_at=timezone.now() + begins,
                ends_at=timezone.now() + begins + timedelta(minutes=30), zone="UTC",
            )  # fmt: skip

    now, later = reserve(timedelta()), reserve(timedelta(days=2))

    def launch(row, **config):
        return post(person.browser(), {**body(**config), "reservation_id": str(row.id)})

    assert launch(later, ipus=None).json()["code"] == "reservation.not_active_yet"
    assert launch(now, ipus=8).json()["code"] == "reservation.too_small"
    assert launch(now, ipus=2).json()["code"] == "config.invalid"
    made = launch(now, ipus=None).json()
    assert (made["system"], made["ipus"], made["price"]["held_microcredits"]) == ("pod128", 4, 0)
    with person.opened():
        reservations.cancel(actor=person.actor, reservation_id=now.id)
    assert launch(now, ipus=4).json()["code"] == "reservation.expired"


def test_the_same_key_launches_once(person):
    browser = person.browser()
    first = post(browser, **{"Idempotency-Key": "k1"})
    again = post(browser, **{"Idempotency-Key": "k1"})
    other = post(browser, body(seed=7), **{"Idempotency-Key": "k1"})
    assert first.json() == again.json()
    assert other.json()["code"] == "idempotency.key_reused"
    assert len(browser.get("/api/v1/jobs").json()["results"]) == 1


def test_viewers_look_and_members_launch(person, new_person):
    viewer, member = new_person(joins=person, role=Role.VIEWER), new_person(joins=person)
    wanted = {**BODY, "project_id": str(person.project_id)}
    assert post(viewer.browser(), wanted).json()["code"] == "role.insufficient"
    job = post(member.browser(), wanted).json()
    assert viewer.browser().get(f"/api/v1/jobs/{job['id']}").json()["id"] == job["id"]
    refused = post(viewer.browser(), {}, f"jobs/{job['id']}/cancel")
    assert refused.json()["code"] == "role.insufficient"


def test_tokens_need_the_scope(person):
    assert post(person.bearer("jobs:read")).status_code == 403
    assert post(person.bearer("jobs:write")).status_code == 201


def test_a_project_has_a_limit_of_open_jobs(person, submit, monkeypatch):
    monkeypatch.setattr(services, "MOST_OPEN_JOBS", 2)
    for _ in range(2):
        submit()
    refused = post(person.browser())
    assert (refused.status_code, refused.json()["code"]) == (409, "quota.open_jobs")


def test_a_job_is_run_again(person, submit):
    job = submit(name="mine")
    again = post(person.browser(), {}, f"jobs/{job.id}/rerun")
    assert again.status_code == 201
    assert (again.json()["name"], again.json()["config"], again.json()["number"]) == ("mine", job.config, 2)


def test_events_and_files_are_read_by_cursor(person, start):
    job, claim = start()
    browser = person.browser()
    assert browser.get(f"/api/v1/jobs/{job.id}/report").json()["code"] == "report.not_ready"
    report(claim)
    for number in range(1, 6):
        log(claim, number, f"line {number}")
    first = browser.get(f"/api/v1/jobs/{job.id}/events?limit=4").json()
    rest = browser.get(f"/api/v1/jobs/{job.id}/events?after={first['results'][-1]['seq']}").json()
    seqs = [event["seq"] for event in first["results"] + rest["results"]]
    assert seqs == list(range(1, rest["last_seq"] + 1))
    assert browser.get(f"/api/v1/jobs/{job.id}/report").json() == {}
    files = browser.get(f"/api/v1/jobs/{job.id}/artefacts").json()
    assert [(file["name"], file["bytes"]) for file in files] == [("report.json", 2)]
    assert b"".join(browser.get(files[0]["url"])) == b"{}"


def test_the_list_is_narrowed(person, submit):
    jobs = [submit(), submit()]
    with person.opened():
        services.cancel(actor=person.actor, job_id=jobs[0].id)
    listed = person.browser().get("/api/v1/jobs?state=cancelled").json()["results"]
    assert [row["id"] for row in listed] == [str(jobs[0].id)]
    assert person.browser().get("/api/v1/jobs?state=nonsense").status_code == 422
