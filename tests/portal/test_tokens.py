"""Tokens: shown once, stored as a keyed hash, bound to their scopes, their project and their person's membership."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from portal import tenancy
from portal.organizations.models import Membership
from portal.tokens import secret as secrets
from portal.tokens.models import Token
from portal.tokens.scopes import SCOPES


def make(person, **changes):
    body = {
        "name": "ci",
        "scopes": ["models:read"],
        "expires_in_days": 30,
        "organization_id": str(person.org_id),
        **changes,
    }
    return person.browser().post("/api/v1/tokens", body, content_type="application/json")


def get(secret: str, path: str = "/api/v1/models"):
    return Client(headers={"Authorization": f"Bearer {secret}"}).get(path)


def test_a_token_is_shown_once_and_works(person):
    made = make(person).json()
    secret = made["token"]
    assert secret.startswith("pod_")
    assert secrets.well_formed(secret)
    assert made["prefix"] == secret[:12]
    listed = person.browser().get("/api/v1/tokens").json()["results"]
    assert [row["id"] for row in listed] == [made["id"]]
    assert "token" not in listed[0]
    assert get(secret).status_code == 200


def test_only_a_keyed_hash_is_stored(person):
    secret = make(person).json()["token"]
    with person.opened(), connection.cursor() as cursor:
        cursor.execute("SELECT t::text FROM tokens_token t")
        stored = "".join(row[0] for row in cursor.fetchall())
    assert secret[12:] not in stored
    assert secrets.digest(secret).hex() in stored


@pytest.mark.parametrize("damage", ["pod_" + "x" * 46, "nonsense", "", "pod_"])
def test_nonsense_is_refused(damage):
    answer = get(damage)
    assert (answer.status_code, answer.json()["code"]) == (401, "auth.invalid")


def test_a_wrong_token_is_not_helped_by_a_session(person):
    client = person.browser()
    assert client.get("/api/v1/models", headers={"Authorization": "Bearer pod_wrong"}).status_code == 401


def test_a_revoked_token_opens_nothing(person):
    made = make(person).json()
    assert person.browser().delete(f"/api/v1/tokens/{made['id']}").status_code == 204
    assert get(made["token"]).status_code == 401
    assert person.browser().delete(f"/api/v1/tokens/{made['id']}").status_code == 204


def test_an_expired_token_opens_nothing(person):
    made = make(person).json()
    with person.opened():
        Token.objects.filter(id=made["id"]).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert get(made["token"]).status_code == 401


def test_a_token_ends_with_its_persons_membership(person, new_person):
    guest = new_person(joins=person)
    with person.opened():
        Membership.objects.filter(org_id=person.org_id, user=guest.user).count()
    body = {"name": "g", "scopes": ["models:read"], "expires_in_days": 1, "organization_id": str(person.org_id)}
    secret = guest.browser().post("/api/v1/tokens", body, content_type="application/json").json()["token"]
    assert get(secret).status_code == 200
    person.browser().delete(f"/api/v1/organizations/{person.org_id}/members/{guest.user.id}")
    assert get(secret).status_code == 401


def test_a_token_ends_with_its_persons_account(person):
    secret = make(person).json()["token"]
    type(person.user).objects.filter(id=person.user.id).update(is_active=False)
    assert get(secret).status_code == 401


def test_last_use_is_noted(person):
    made = make(person).json()
    get(made["token"])
    with person.opened():
        assert timezone.now() - Token.objects.get(id=made["id"]).last_used_at < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"scopes": ["tokens:write"]}, "scopes"),
        ({"scopes": ["everything"]}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"expires_in_days": 366}, "expires_in_days"),
        ({"expires_in_days": None}, "expires_in_days"),
        ({"name": ""}, "name"),
    ],
)
def test_what_a_token_cannot_be(person, changes, field):
    answer = make(person, **changes)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def test_no_token_for_a_strangers_organization(person, stranger):
    assert make(person, organization_id=str(stranger.org_id)).status_code == 404
    assert make(person, project_id=str(stranger.project_id)).status_code == 404


def test_a_token_cannot_make_or_revoke_tokens(person):
    bearer = person.bearer(*SCOPES)
    body = {"name": "x", "scopes": ["jobs:read"], "expires_in_days": 1, "organization_id": str(person.org_id)}
    made = bearer.post("/api/v1/tokens", body, content_type="application/json")
    assert (made.status_code, made.json()["code"]) == (403, "auth.session_only")
    mine = bearer.get("/api/v1/tokens").json()["results"][0]["id"]
    assert bearer.delete(f"/api/v1/tokens/{mine}").status_code == 403


def test_somebody_elses_token_cannot_be_revoked(person, new_person, stranger):
    made = make(person).json()
    guest = new_person(joins=person)
    assert guest.browser().delete(f"/api/v1/tokens/{made['id']}").status_code == 403
    assert stranger.browser().delete(f"/api/v1/tokens/{made['id']}").status_code == 404
    assert get(made["token"]).status_code == 200


def test_a_token_reaches_its_organization_alone(person, new_person):
    guest = new_person(joins=person)
    ids = {org["id"] for org in guest.bearer("organizations:read").get("/api/v1/organizations").json()}
    assert ids == {str(guest.org_id)}


def test_a_project_token_reaches_its_project_alone(person):
    from portal.organizations.models import Project

    with person.opened():
        other = Project.objects.create(org_id=person.org_id, slug="other", name="Other")
    client = Client(headers={"Authorization": f"Bearer {person.secret('models:write', project_id=other.id)}"})
    begin = {"name": "m.onnx", "size": 4}
    made = client.post("/api/v1/uploads", begin, content_type="application/json")
    assert made.status_code == 201
    elsewhere = client.post(
        "/api/v1/uploads", {**begin, "project_id": str(person.project_id)}, content_type="application/json"
    )
    assert elsewhere.status_code == 404


def routes():
    """Every API route as (pattern, view class)."""
    from django.urls import get_resolver

    def walk(resolver, prefix=""):
        for entry in resolver.url_patterns:
            path = prefix + str(entry.pattern)
            if hasattr(entry, "url_patterns"):
                yield from walk(entry, path)
            elif hasattr(entry.callback, "view_class") and hasattr(entry.callback.view_class, "scopes"):
                yield path, entry.callback.view_class

    return list(walk(get_resolver()))


def test_every_method_is_public_or_session_only_or_has_a_known_scope():
    seen = 0
    for path, view in routes():
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            if hasattr(view, method.lower()):
                seen += 1
                kinds = [method in view.public, method in view.session_only, view.scopes.get(method) in SCOPES]
                assert sum(kinds) == 1, (path, method)
    assert seen > 25


def test_head_needs_the_scope_of_get(person):
    assert person.bearer("models:read").head("/api/v1/models").status_code == 200
    assert person.bearer("jobs:read").head("/api/v1/models").status_code == 403
    assert person.browser().options("/api/v1/models").status_code == 403


def test_a_token_without_the_scope_is_refused_everywhere(person):
    """Each route and method with a token that has every scope but the needed one: 403, and nothing happens."""
    clients: dict[str, Client] = {}
    for path, view in routes():
        address = "/" + re.sub(r"<(\w+):\w+>", lambda m: str(tenancy.uuid7()) if m[1] == "uuid" else "1", path)
        for method, scope in view.scopes.items():
            if scope not in clients:
                clients[scope] = person.bearer(*(other for other in SCOPES if other != scope))
            answer = clients[scope].generic(method, address)
            assert (answer.status_code, answer.json()["code"]) == (403, "auth.scope_missing"), (method, path)
            assert answer.json()["params"] == {"scope": scope}
