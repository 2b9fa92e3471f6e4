"""Tokens: shown once, stored as a keyed hash, bound to their scopes, their project and their person's membership."""

import re
import threading
from datetime import timedelta

import pytest
from django.db import ProgrammingError, connection, connections
from django.test import Client
from django.utils import timezone

from portal import tenancy
from portal.organizations.models import Membership
from portal.tenancy import Role
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
    refused = get(made["token"])
    assert (refused.status_code, refused.json()["code"]) == (401, "token.expired")
    assert refused.json()["params"]["expired_at"].startswith(str(timezone.now().date())[:4])


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


def post(client, path, **body):
    return client.post(f"/api/v1/{path}", body, content_type="application/json")


@pytest.mark.parametrize(
    "change",
    [
        "scopes = scopes || '{jobs:write}'", "networks = '{}'", "expires_at = expires_at + interval '1 day'",
        "user_id = gen_random_uuid()", "project_id = gen_random_uuid()", "digest = 'x'",
    ],
)  # fmt: skip
@pytest.mark.parametrize("alias", ["default", "system", "owner"])
def test_what_a_token_may_do_is_fixed_in_the_database(person, change, alias):
    made = make(person, networks=["10.0.0.0/8"]).json()
    role = "system" if alias == "system" else "app"
    with pytest.raises(ProgrammingError, match="fixed"), tenancy.context(role=role, org_ids=[person.org_id]):  # noqa: SIM117
        with connections[alias].cursor() as cursor:
            cursor.execute(f"UPDATE tokens_token SET {change} WHERE id = %s", [made["id"]])


def test_a_revoked_token_stays_revoked(person):
    made = make(person).json()
    person.browser().delete(f"/api/v1/tokens/{made['id']}")
    with pytest.raises(ProgrammingError, match="fixed"), person.opened():
        Token.objects.filter(id=made["id"]).update(revoked_at=None)


@pytest.mark.parametrize(
    ("networks", "address", "status"),
    [
        (["10.1.0.0/16"], "10.1.2.3", 200), (["10.1.0.0/16"], "10.2.0.1", 403), (["2001:db8::/32"], "2001:db8::1", 200),
        (["10.1.0.0/16", "192.0.2.7"], "192.0.2.7", 200), (["10.1.0.0/16"], "2001:db8::1", 403), ([], "10.2.0.1", 200),
    ],
)  # fmt: skip
def test_a_token_works_from_its_networks_alone(person, networks, address, status):
    secret = make(person, networks=networks).json()["token"]
    client = Client(headers={"Authorization": f"Bearer {secret}", "X-Forwarded-For": "10.1.2.3"}, REMOTE_ADDR=address)
    answer = client.get("/api/v1/models")
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "token.wrong_network"


@pytest.mark.parametrize("network", ["10.0.0.1/8", "nonsense", "300.1.1.1", ""])
def test_a_network_that_is_none_is_refused(person, network):
    answer = make(person, networks=[network])
    assert answer.status_code == 422


def test_the_last_use_says_from_where(person):
    made = make(person).json()
    Client(headers={"Authorization": f"Bearer {made['token']}"}, REMOTE_ADDR="192.0.2.7").get("/api/v1/models")
    [row] = person.browser().get("/api/v1/tokens").json()["results"]
    assert row["last_used_address"] == "192.0.2.7"


def test_a_rotated_token_overlaps_with_its_successor(person):
    made = make(person, networks=["127.0.0.1"]).json()
    answer = post(person.browser(), f"tokens/{made['id']}/rotate", overlap_hours=2)
    new = answer.json()
    assert answer.status_code == 201
    assert (new["scopes"], new["networks"]) == (made["scopes"], made["networks"])
    assert get(made["token"]).status_code == get(new["token"]).status_code == 200
    old = next(row for row in person.browser().get("/api/v1/tokens").json()["results"] if row["id"] == made["id"])
    assert old["replaced_by_id"] == new["id"]
    assert old["expires_at"] < (timezone.now() + timedelta(hours=2, minutes=1)).isoformat()
    again = post(person.browser(), f"tokens/{made['id']}/rotate", overlap_hours=2)
    assert (again.status_code, again.json()["code"]) == (409, "token.ended")


def test_without_an_overlap_the_old_one_ends_at_once(person):
    made = make(person).json()
    assert post(person.browser(), f"tokens/{made['id']}/rotate", overlap_hours=0).status_code == 201
    assert get(made["token"]).json()["code"] == "token.expired"


def test_only_its_person_rotates_a_token(person, new_person, stranger):
    guest = new_person(joins=person)
    body = {"name": "g", "scopes": ["models:read"], "expires_in_days": 1, "organization_id": str(person.org_id)}
    made = post(guest.browser(), "tokens", **body).json()
    address = f"tokens/{made['id']}/rotate"
    assert post(person.browser(), address, overlap_hours=1).json()["code"] == "token.not_yours"
    assert post(stranger.browser(), address, overlap_hours=1).status_code == 404
    assert post(guest.bearer(*SCOPES), address, overlap_hours=1).status_code == 403


def test_fifty_rotations_at_once_make_one_successor(person):
    made = make(person).json()
    barrier, answers = threading.Barrier(50), []

    def rotate() -> None:
        client = person.browser()
        barrier.wait(30)
        answers.append(post(client, f"tokens/{made['id']}/rotate", overlap_hours=1).status_code)
        connections.close_all()

    threads = [threading.Thread(target=rotate) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (answers.count(201), answers.count(409)) == (1, 49)


def test_all_tokens_end_at_once(person, new_person, stranger):
    guest = new_person(joins=person)
    body = {"name": "g", "scopes": ["models:read"], "expires_in_days": 1, "organization_id": str(person.org_id)}
    theirs = post(guest.browser(), "tokens", **body).json()["token"]
    mine = [make(person).json()["token"] for _ in range(2)]
    assert post(guest.browser(), "tokens/revoke-all", organization_id=str(person.org_id)).json() == {"revoked": 1}
    assert get(theirs).status_code == 401
    assert get(mine[0]).status_code == 200
    theirs = post(guest.browser(), "tokens", **body).json()["token"]
    everybody = {"organization_id": str(person.org_id), "of_everybody": True}
    assert post(guest.browser(), "tokens/revoke-all", **everybody).status_code == 403
    assert post(stranger.browser(), "tokens/revoke-all", **everybody).status_code == 404
    assert post(person.browser(), "tokens/revoke-all", of_everybody=True).status_code == 422
    assert post(person.browser(), "tokens/revoke-all", **everybody).json() == {"revoked": 3}
    assert [get(secret).status_code for secret in (*mine, theirs)] == [401] * 3
    assert person.bearer("tokens:read").post("/api/v1/tokens/revoke-all").status_code == 403


def test_an_organization_limits_the_life_of_its_tokens(person, new_person, stranger):
    address = f"/api/v1/organizations/{person.org_id}/token-policy"
    guest = new_person(joins=person)
    put = {"data": {"most_days": 7}, "content_type": "application/json"}
    assert guest.browser().put(address, **put).status_code == 403
    assert stranger.browser().put(address, **put).status_code == 404
    assert person.browser().put(address, **put).json() == {"most_days": 7}
    assert guest.browser().get(address).json() == {"most_days": 7}
    refused = make(person, expires_in_days=8)
    assert (refused.status_code, refused.json()["code"]) == (422, "token.too_long")
    assert make(person, expires_in_days=7).status_code == 201


def test_a_successor_lives_no_longer_than_the_limit(person):
    made = make(person, expires_in_days=300).json()
    address = f"/api/v1/organizations/{person.org_id}/token-policy"
    person.browser().put(address, {"most_days": 3}, content_type="application/json")
    new = post(person.browser(), f"tokens/{made['id']}/rotate", overlap_hours=1).json()
    assert new["expires_at"] < (timezone.now() + timedelta(days=3, minutes=1)).isoformat()


def test_what_a_scope_opens_is_told_before(person, new_person, stranger):
    viewer = new_person(joins=person, role=Role.VIEWER)
    asked = {"organization_id": str(person.org_id)}
    rows = {row["scope"]: row for row in viewer.browser().get("/api/v1/tokens/scopes", asked).json()}
    assert set(rows) == set(SCOPES)
    assert "POST /api/v1/jobs" in rows["jobs:write"]["operations"]
    assert (rows["jobs:read"]["useful"], rows["jobs:write"]["useful"]) == (True, False)
    # Leaderboards are public, so their scope opens nothing more.
    assert [scope for scope, row in rows.items() if not row["operations"]] == ["boards:read"]
    assert stranger.browser().get("/api/v1/tokens/scopes", asked).status_code == 404


def test_the_log_tells_of_tokens(person, new_person):
    guest = new_person(joins=person)
    body = {"name": "g", "scopes": ["models:read"], "expires_in_days": 1, "organization_id": str(person.org_id)}
    made = post(guest.browser(), "tokens", **body).json()
    person.browser().delete(f"/api/v1/tokens/{made['id']}")
    log = person.browser().get(f"/api/v1/organizations/{person.org_id}/audit", {"target_id": made["id"]}).json()
    told = [(row["action"], row["actor_id"], row["on_behalf_of_id"]) for row in log["results"]]
    mine, theirs = str(person.user.id), str(guest.user.id)
    assert told == [("token.revoked", mine, theirs), ("token.created", theirs, None)]
    assert made["token"][12:] not in str(log)
