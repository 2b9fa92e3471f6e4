"""Signing up, confirming, signing in and out as the front end does it, with CSRF checked."""

import json
import re
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client

from portal import tenancy
from portal.accounts.models import OutboxMail, User
from portal.organizations.models import Organization

AUTH = "/_allauth/browser/v1/auth"
PASSWORD = "a quiet horse 42"


class Browser:
    """Does what the front end's http module does: CSRF cookie from GET session, then the header."""

    def __init__(self) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.client.get("/api/v1/session")

    def call(self, method: str, path: str, body: object = None, *, csrf: bool = True):
        headers = {"X-CSRFToken": self.client.cookies["csrftoken"].value} if csrf else {}
        return self.client.generic(
            method, path, b"" if body is None else json.dumps(body), "application/json", headers=headers
        )

    def session(self) -> dict:
        return self.client.get("/api/v1/session").json()


@pytest.fixture(autouse=True)
def _as_it_runs(settings):
    """pytest-django keeps mails in memory; here they go where `./podium up` puts them."""
    settings.EMAIL_BACKEND = "portal.accounts.outbox.OutboxBackend"
    cache.clear()


@pytest.fixture
def address() -> str:
    return f"new-{tenancy.uuid7().hex[-10:]}@example.org"


def sign_up(address: str) -> Browser:
    browser = Browser()
    answer = browser.call("POST", f"{AUTH}/signup", {"email": address, "password": PASSWORD, "name": "Grace"})
    assert answer.status_code == 401, answer.content
    return browser


def confirm(browser: Browser, address: str):
    mail = OutboxMail.objects.filter(to=address).order_by("-id").first()
    assert mail is not None
    key = unquote(re.search(r"/confirm/(\S+)", mail.body)[1])
    return browser.call("POST", f"{AUTH}/email/verify", {"key": key})


def test_signing_up_to_a_personal_organization(address):
    browser = sign_up(address)
    assert browser.session()["user"] is None
    assert confirm(browser, address).status_code == 200
    session = browser.session()
    assert session["user"]["email"] == address
    assert session["user"]["name"] == "Grace"
    (org,) = session["organizations"]
    assert (org["role"], org["is_personal"], org["balance_microcredits"]) == ("owner", True, 1_000_000_000)
    assert [project["slug"] for project in org["projects"]] == ["default"]
    assert session["embedded"] is True


def test_a_link_opened_in_another_browser_confirms_but_does_not_sign_in(address):
    sign_up(address)
    other = Browser()
    assert confirm(other, address).status_code == 401
    assert other.session()["user"] is None
    assert other.call("POST", f"{AUTH}/login", {"email": address, "password": PASSWORD}).status_code == 200


def test_nobody_enters_before_the_address_is_confirmed(address):
    sign_up(address)
    answer = Browser().call("POST", f"{AUTH}/login", {"email": address, "password": PASSWORD})
    assert answer.status_code == 401
    assert answer.json()["meta"]["is_authenticated"] is False


def test_login_and_logout(address):
    confirm(sign_up(address), address)
    browser = Browser()
    before = browser.client.cookies.get("podium_session_http")
    assert browser.call("POST", f"{AUTH}/login", {"email": address.upper(), "password": PASSWORD}).status_code == 200
    assert browser.session()["user"]["email"] == address
    assert browser.client.cookies["podium_session_http"] != before
    browser.call("DELETE", f"{AUTH}/session")
    assert browser.session()["user"] is None
    assert browser.client.get("/api/v1/tokens").status_code == 401


def test_a_wrong_password_is_refused(person):
    answer = Browser().call("POST", f"{AUTH}/login", {"email": person.user.email, "password": "wrong"})
    assert answer.status_code == 400


def test_an_unknown_address_gets_the_same_answer_as_a_wrong_password(person):
    known = Browser().call("POST", f"{AUTH}/login", {"email": person.user.email, "password": "wrong"})
    unknown = Browser().call("POST", f"{AUTH}/login", {"email": "nobody@example.org", "password": "wrong"})
    assert (known.status_code, known.json()) == (unknown.status_code, unknown.json())


def test_signing_up_twice_does_not_tell_that_the_address_is_known(person, address):
    fresh = Browser().call("POST", f"{AUTH}/signup", {"email": address, "password": PASSWORD})
    taken = Browser().call("POST", f"{AUTH}/signup", {"email": person.user.email, "password": PASSWORD})
    assert fresh.status_code == taken.status_code == 401
    assert User.objects.filter(email=person.user.email).count() == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", f"{AUTH}/login", {"email": "a@example.org", "password": "x"}),
        ("DELETE", f"{AUTH}/session", None),
    ],
)
def test_signing_in_and_out_needs_the_csrf_token(method, path, body):
    assert Browser().call(method, path, body, csrf=False).status_code == 403


def test_a_session_needs_the_csrf_token_to_change_anything(person):
    browser = Browser()
    browser.client.force_login(person.user)
    body = {"name": "t", "scopes": ["jobs:read"], "expires_in_days": 1, "organization_id": str(person.org_id)}
    refused = browser.call("POST", "/api/v1/tokens", body, csrf=False)
    assert (refused.status_code, refused.json()["code"]) == (403, "auth.csrf")
    assert browser.call("POST", "/api/v1/tokens", body).status_code == 201


def test_the_outbox_is_for_this_machine_alone(address):
    sign_up(address)
    local = Client().get("/api/v1/outbox")
    assert any(address == mail["to"] and mail["links"] for mail in local.json()["results"])
    away = Client(REMOTE_ADDR="192.0.2.7").get("/api/v1/outbox")
    assert (away.status_code, away.json()["code"]) == (404, "not_found")


def test_the_outbox_is_absent_where_mail_is_sent(settings):
    settings.OUTBOX = False
    assert Client().get("/api/v1/outbox").status_code == 404


def test_a_spoofed_address_does_not_open_the_outbox():
    spoofed = Client(REMOTE_ADDR="192.0.2.7", headers={"X-Forwarded-For": "127.0.0.1"}).get("/api/v1/outbox")
    assert spoofed.status_code == 404


def test_too_many_wrong_passwords_are_slowed_down_per_account(person):
    """The bucket is the account's: another address of the sender does not empty it."""
    answers = [
        Browser().call("POST", f"{AUTH}/login", {"email": person.user.email, "password": "wrong"}).status_code
        for _ in range(12)
    ]
    assert set(answers[:3]) == {400}
    assert answers[-1] in (400, 429)
    right = Browser().call("POST", f"{AUTH}/login", {"email": person.user.email, "password": "correct horse battery"})
    assert right.status_code in (400, 429)


def test_create_operator_prints_a_password_once(capsys, address):
    call_command("create_operator", email=address)
    first = capsys.readouterr().out
    password = first.split()[-1]
    user = User.objects.get(email=address)
    assert user.is_operator
    assert user.check_password(password)
    call_command("create_operator", email=address)
    assert "password is as it was" in capsys.readouterr().out
    with tenancy.context(user_id=user.id):
        assert Organization.objects.filter(personal_of=user).count() == 1


def test_passwords_are_stored_with_argon2(person):
    assert person.user.password.startswith("argon2$")
