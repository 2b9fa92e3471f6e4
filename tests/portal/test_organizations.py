"""Members and roles: who may make whom what, and that somebody always owns the place."""

import threading

import pytest
from django.db import connections

from portal.accounts.models import User
from portal.errors import PodiumError
from portal.organizations import services
from portal.organizations.models import Membership
from portal.tenancy import Role, uuid7


def path(person, member=None) -> str:
    return f"/api/v1/organizations/{person.org_id}/members" + (f"/{member.user.id}" if member else "")


def add(by, person, email, role="member"):
    return by.browser().post(path(person), {"email": email, "role": role}, content_type="application/json")


def change(by, person, member, role):
    return by.browser().patch(path(person, member), {"role": role}, content_type="application/json")


def test_an_owner_adds_a_member_who_then_sees_the_organization(person, stranger):
    made = add(person, person, stranger.user.email.upper())
    assert made.status_code == 201
    assert (made.json()["user_id"], made.json()["role"]) == (str(stranger.user.id), "member")
    session = stranger.browser().get("/api/v1/session").json()
    assert [org["id"] for org in session["organizations"]] == [str(stranger.org_id), str(person.org_id)]
    listed = person.browser().get(path(person)).json()["results"]
    assert {row["email"] for row in listed} == {person.user.email, stranger.user.email}


def test_unknown_and_unconfirmed_addresses_are_refused(person, stranger):
    assert add(person, person, "nobody@example.org").json()["code"] == "member.unknown_address"
    stranger.user.emailaddress_set.update(verified=False)
    assert add(person, person, stranger.user.email).json()["code"] == "member.unknown_address"


def test_nobody_joins_twice(person, new_person):
    guest = new_person(joins=person)
    again = add(person, person, guest.user.email)
    assert (again.status_code, again.json()["code"]) == (409, "member.exists")


@pytest.mark.parametrize(
    ("role", "may"),
    [
        (Role.VIEWER, {"list"}),
        (Role.MEMBER, {"list"}),
        (Role.ADMIN, {"list", "add", "promote to admin", "remove"}),
        (Role.OWNER, {"list", "add", "promote to admin", "promote to owner", "remove", "add owner", "demote owner"}),
    ],
)
def test_what_each_role_may_do(person, new_person, role, may):
    by = new_person(joins=person, role=role)
    attempts = {
        "list": lambda: by.browser().get(path(person)),
        "add": lambda: add(by, person, new_person().user.email),
        "add owner": lambda: add(by, person, new_person().user.email, "owner"),
        "promote to admin": lambda: change(by, person, new_person(joins=person), "admin"),
        "promote to owner": lambda: change(by, person, new_person(joins=person), "owner"),
        "demote owner": lambda: change(by, person, new_person(joins=person, role=Role.OWNER), "member"),
        "remove": lambda: by.browser().delete(path(person, new_person(joins=person))),
    }
    outcomes = {name: attempt().status_code for name, attempt in attempts.items()}
    assert {name for name, status in outcomes.items() if status < 300} == may
    assert {status for status in outcomes.values() if status >= 300} <= {403}


def test_a_stranger_gets_404_everywhere(person, stranger, new_person):
    guest = new_person(joins=person)
    client = stranger.browser()
    answers = [
        client.get(f"/api/v1/organizations/{person.org_id}"),
        client.get(path(person)),
        client.get(f"/api/v1/organizations/{person.org_id}/ledger"),
        add(stranger, person, stranger.user.email),
        change(stranger, person, guest, "owner"),
        client.delete(path(person, guest)),
    ]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(404, "not_found")}


def test_a_member_may_leave(person, new_person):
    guest = new_person(joins=person)
    assert guest.browser().delete(path(person, guest)).status_code == 204
    assert guest.browser().get(f"/api/v1/organizations/{person.org_id}").status_code == 404


def test_the_last_owner_neither_leaves_nor_steps_down(person):
    for answer in (person.browser().delete(path(person, person)), change(person, person, person, "admin")):
        assert (answer.status_code, answer.json()["code"]) == (409, "member.last_owner")


def test_two_owners_cannot_both_leave_at_once(person, new_person):
    other = new_person(joins=person, role=Role.OWNER)
    barrier, refused = threading.Barrier(2), []

    def leave(who) -> None:
        actor = who.actor
        barrier.wait()
        try:
            with who.opened():
                services.remove_member(actor=actor, org_id=person.org_id, user_id=who.user.id)
        except PodiumError as error:
            refused.append(error.code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=leave, args=(who,)) for who in (person, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == ["member.last_owner"]
    with person.opened():
        if person.org_id in person.actor.roles:
            assert Membership.objects.filter(org_id=person.org_id, role=Role.OWNER).count() == 1


def test_a_read_only_token_changes_no_member(person, new_person):
    guest = new_person(joins=person)
    client = person.bearer("organizations:read")
    assert client.get(path(person)).status_code == 200
    assert client.delete(path(person, guest)).status_code == 403
    assert client.patch(path(person, guest), {"role": "owner"}, content_type="application/json").status_code == 403


def test_signing_in_at_the_same_moment_makes_one_organization():
    user = User.objects.create(email=f"race-{uuid7().hex}@example.org", password="!")
    ids: list = []
    barrier = threading.Barrier(6)

    def greet() -> None:
        barrier.wait()
        ids.append(services.ensure_personal(user=user))
        connections.close_all()

    threads = [threading.Thread(target=greet) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == 6
    assert len(set(ids)) == 1
