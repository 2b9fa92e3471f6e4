"""The audit log: written with the deed or not at all, never changed, chained, and shown to the right people alone."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, connections
from django.test import Client

from portal import tenancy
from portal.audit import checking
from portal.audit import services as audit
from portal.audit.models import Entry
from portal.tenancy import Role


def note(person, action="thing.done", **facts):
    with person.opened():
        audit.record(action, actor=person.actor, org_id=person.org_id, target_id="1", label="A thing", **facts)


def entries(person, client=None, **query):
    answer = (client or person.browser()).get(f"/api/v1/organizations/{person.org_id}/audit", query)
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def test_an_entry_says_who_what_and_before_and_after(person):
    note(person, before={"role": "viewer"}, after={"role": "admin"})
    [row] = entries(person, action="thing")
    assert (row["actor_email"], row["name"], row["target_id"]) == (person.user.email, "A thing", "1")
    assert (row["before"], row["after"]) == ({"role": "viewer"}, {"role": "admin"})


def test_a_deed_that_is_undone_leaves_no_entry(person):
    def fail() -> None:
        with person.opened():
            audit.record("thing.done", actor=person.actor, org_id=person.org_id)
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert entries(person, action="thing") == []


@pytest.mark.parametrize("alias", ["default", "system", "owner"])
@pytest.mark.parametrize("table", ["audit_entry", "audit_link"])
@pytest.mark.parametrize("change", ["UPDATE {} SET org_id = NULL", "DELETE FROM {}", "TRUNCATE {}"])
def test_nobody_changes_or_removes_entries(person, alias, table, change):
    note(person)
    with pytest.raises(ProgrammingError, match="written once|permission denied"), connections[alias].cursor() as cursor:
        cursor.execute(change.format(table))


@pytest.mark.parametrize("role", ["app", "system"])
def test_links_are_made_by_the_database_alone(person, role):
    with pytest.raises(ProgrammingError, match="permission denied|row-level security"):  # noqa: SIM117
        with (
            tenancy.context(role=role, org_ids=[person.org_id]) as opened,
            connections[opened.alias].cursor() as cursor,
        ):
            cursor.execute("INSERT INTO audit_link VALUES (gen_random_uuid(), %s, 9, '', '')", [person.org_id])


def test_an_entry_cannot_be_put_into_a_strangers_log(person, stranger):
    with pytest.raises(ProgrammingError, match="row-level security"), person.opened():
        audit.record("thing.done", actor=person.actor, org_id=stranger.org_id)


def test_secrets_are_kept_out(person):
    with pytest.raises(ValueError, match="password"), person.opened():
        audit.record("thing.done", actor=person.actor, org_id=person.org_id, after={"new_password": "x"})


def test_whoever_gets_past_the_triggers_is_found_out(person, tmp_path):
    for number in range(3):
        note(person, after={"number": number})
    assert checking.faults() == []
    heads = tmp_path / "heads.json"
    call_command("verify_audit", heads=heads, stdout=io.StringIO())
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT id FROM audit_entry WHERE org_id = %s ORDER BY id DESC LIMIT 1", [person.org_id])
        [(last,)] = cursor.fetchall()
        cursor.execute("BEGIN; ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_unchanged")
        cursor.execute("UPDATE audit_entry SET label = 'Another' WHERE id = %s", [last])
        cursor.execute("SELECT fault FROM podium_audit_faults()")
        assert cursor.fetchall() == [("its entry was changed",)]
        cursor.execute("DELETE FROM audit_entry WHERE id = %s", [last])
        cursor.execute("SELECT fault FROM podium_audit_faults()")
        assert cursor.fetchall() == [("its entry is missing",)]
        cursor.execute("ROLLBACK")
    assert checking.cut(json.loads(heads.read_text())) == []
    kept = {str(person.org_id): f"{10**6}:00"}
    heads.write_text(json.dumps(kept))
    with pytest.raises(CommandError, match="tampered"):
        call_command("verify_audit", heads=heads, stderr=io.StringIO())


def test_the_log_of_an_organization_is_for_its_admins(person, new_person, stranger):
    note(person)
    address = f"/api/v1/organizations/{person.org_id}/audit"
    assert new_person(joins=person, role=Role.ADMIN).browser().get(address).status_code == 200
    assert new_person(joins=person, role=Role.MEMBER).browser().get(address).json()["code"] == "audit.admins_only"
    assert stranger.browser().get(address).status_code == 404
    assert person.bearer("organizations:read").get(address).status_code == 403
    assert person.bearer("audit:read").get(address).status_code == 200


def test_the_platforms_log_is_for_operators(person, new_person):
    note(person)
    assert person.browser().get("/api/v1/audit").status_code == 404
    operator = new_person()
    type(operator.user).objects.filter(id=operator.user.id).update(is_operator=True)
    seen = operator.browser().get("/api/v1/audit", {"organization_id": str(person.org_id), "action": "thing.done"})
    assert [row["name"] for row in seen.json()["results"]] == ["A thing"]
    assert operator.browser().get(f"/api/v1/organizations/{person.org_id}/audit").status_code == 404


def test_filters(person, new_person):
    guest = new_person(joins=person)
    note(person)
    with guest.opened():
        audit.record("other.made", actor=guest.actor, org_id=person.org_id, target_id="2")
    assert {row["action"] for row in entries(person, actor_id=str(guest.user.id))} == {"other.made"}
    assert {row["action"] for row in entries(person, target_id="1")} == {"thing.done"}
    assert entries(person, action="oth") == []
    assert entries(person, until="2020-01-01T00:00:00Z") == []
    naive = person.browser().get(f"/api/v1/organizations/{person.org_id}/audit", {"since": "2020-01-01T00:00:00"})
    assert naive.status_code == 422


def test_a_strangers_rows_are_not_even_counted(person, stranger):
    note(person)
    with stranger.opened():
        assert Entry.objects.filter(org_id=person.org_id).count() == 0


def test_log_ins_are_the_persons_own_to_see(person, stranger):
    from tests.portal.people import PASSWORD

    client = Client(headers={"User-Agent": "A browser\x00é"})
    login = "/_allauth/browser/v1/auth/login"
    wrong = client.post(login, {"email": person.user.email, "password": "no"}, content_type="application/json")
    assert wrong.status_code == 400
    right = {"email": person.user.email, "password": PASSWORD}
    assert client.post(login, right, content_type="application/json").status_code == 200
    rows = client.get("/api/v1/audit/mine").json()["results"]
    assert [(row["action"], row["address"]) for row in rows] == [
        ("session.opened", "127.0.0.1"),
        ("session.refused", "127.0.0.1"),
    ]
    assert rows[0]["user_agent"].startswith("A browser")
    assert rows[0]["request_id"]
    assert stranger.browser().get("/api/v1/audit/mine", {"target_id": str(person.user.id)}).json()["results"] == []
    assert person.bearer("audit:read").get("/api/v1/audit/mine").status_code == 403
    assert client.get(f"/api/v1/organizations/{person.org_id}/audit", {"action": "session"}).json()["results"] == []


def test_verbs_on_members_are_told_with_before_and_after(person, new_person):
    guest = new_person(joins=person)
    address = f"/api/v1/organizations/{person.org_id}/members/{guest.user.id}"
    person.browser().patch(address, {"role": "viewer"}, content_type="application/json")
    person.browser().delete(address)
    told = [(row["action"], row["name"], row["before"], row["after"]) for row in entries(person, action="member")]
    assert told == [
        ("member.removed", guest.user.email, {"role": "viewer"}, None),
        ("member.role_changed", guest.user.email, {"role": "member"}, {"role": "viewer"}),
        ("member.added", guest.user.email, None, {"role": "member"}),
    ]


def test_a_new_organization_and_its_credits_are_told(person):
    told = {row["action"]: row["actor_email"] for row in entries(person)}
    assert told == {"organization.created": person.user.email, "credits.granted": None}


def test_what_a_token_does_names_the_token(person):
    bearer = person.bearer("models:write")
    begun = bearer.post("/api/v1/uploads", {"name": "m.onnx", "size": 3}, content_type="application/json").json()
    address = f"/api/v1/uploads/{begun['id']}"
    bearer.put(address, b"abc", "application/octet-stream", headers={"Upload-Offset": "0"})
    model = bearer.post(f"{address}/complete").json()
    bearer.delete(f"/api/v1/models/{model['id']}")
    rows = entries(person, action="model")
    assert [row["action"] for row in rows] == ["model.deleted", "model.uploaded"]
    assert {row["token_id"] for row in rows} == {entries(person, action="token.created")[0]["target_id"]}


def test_a_launch_and_a_cancellation_are_told(person):
    config = {"task": "infer", "steps": 1, "batch": 4, "system": "pod4", "ipus": 1}
    body = {"model": "zoo:mnist", "config": config}
    job = person.browser().post("/api/v1/jobs", body, content_type="application/json").json()
    person.browser().post(f"/api/v1/jobs/{job['id']}/cancel")
    told = [(row["action"], row["target_id"], row["actor_email"]) for row in entries(person, action="job")]
    mail = person.user.email
    assert told == [("job.cancelled", job["id"], mail), ("job.submitted", job["id"], mail)]


def test_the_ticker_reports_a_log_that_is_not_whole(monkeypatch, caplog):
    assert checking.report() == 0
    monkeypatch.setattr(checking, "faults", lambda: [checking.Fault("chain", 3, "its entry was changed")])
    assert checking.report() == 1
    assert "its entry was changed" in caplog.text
