"""People of a running Podium, made as a browser makes them: signed up, confirmed by the outbox's link, with a token."""

import itertools
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import httpx

from tests.e2e.stack import Stack

SCOPES = [
    "audit:read", "boards:read", "jobs:read", "jobs:write", "models:read", "models:write", "organizations:read",
    "organizations:write", "pods:read", "reservations:read", "reservations:write", "tokens:read",
]  # fmt: skip
T = TypeVar("T")
_numbers = itertools.count(1)


@dataclass
class Person:
    """A signed-in browser (`web`, with CSRF) and a token of every scope (`api`), both of one personal organization."""

    stack: Stack
    email: str
    password: str
    web: httpx.Client
    api: httpx.Client = field(init=False)
    token: str = ""

    def session(self) -> dict[str, Any]:
        return self.web.get("/api/v1/session").json()

    @property
    def organization(self) -> dict[str, Any]:
        return next(row for row in self.session()["organizations"] if row["is_personal"])

    @property
    def project_id(self) -> str:
        return self.organization["projects"][0]["id"]

    def make_token(self, scopes: list[str] | None = None, **more: Any) -> str:
        body = {"name": "tests", "scopes": scopes or SCOPES, "expires_in_days": 7}
        answer = self.send("POST", "/api/v1/tokens", json=body | {"organization_id": self.organization["id"]} | more)
        assert answer.status_code == 201, answer.text
        return answer.json()["token"]

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """As the browser does: with the session's cookie and the CSRF token."""
        headers = {"X-CSRFToken": csrf(self.web), "Referer": self.stack.url} | options.pop("headers", {})
        return self.web.request(method, path, headers=headers, **options)


def csrf(web: httpx.Client) -> str:
    return next((cookie.value or "" for cookie in web.cookies.jar if "csrf" in cookie.name), "")


def join(stack: Stack, name: str = "person") -> Person:
    """A new person, confirmed and signed in, with a token."""
    address = f"{name}-{next(_numbers)}-{secrets.token_hex(3)}@example.org"
    web = httpx.Client(base_url=stack.url, timeout=30)
    person = Person(stack, address, f"long {secrets.token_hex(8)}", web)
    assert web.get("/api/v1/session").status_code == 200
    credentials = {"email": person.email, "password": person.password}
    answer = person.send("POST", "/_allauth/browser/v1/auth/signup", json=credentials | {"name": name})
    assert answer.status_code == 401, answer.text  # allauth's word for: one more step, the confirmation
    key = confirmation_key(web, person.email)
    person.send("POST", "/_allauth/browser/v1/auth/email/verify", json={"key": key})
    if person.session()["user"] is None:
        answer = person.send("POST", "/_allauth/browser/v1/auth/login", json=credentials)
        assert answer.status_code == 200, answer.text
    person.token = person.make_token()
    person.api = httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {person.token}"}, timeout=30)
    return person


def confirmation_key(web: httpx.Client, email: str) -> str:
    """The last part of the link in the newest mail to this address."""
    mails = web.get("/api/v1/outbox").json()["results"]
    link = next(mail["links"][0] for mail in mails if mail["to"] == email)
    return unquote(urlsplit(link).path.rstrip("/").rpartition("/")[2])


def wait_for(read: Callable[[], T], *, seconds: float = 60.0, what: str = "the expected state") -> T:
    """Read until the value is truthy, which is then returned."""
    end = time.monotonic() + seconds
    while not (value := read()):
        assert time.monotonic() < end, f"waited {seconds} s in vain for {what}"
        time.sleep(0.2)
    return value
