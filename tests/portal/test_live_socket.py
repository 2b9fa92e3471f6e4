"""The socket /ws/v1 against the real server: who may open it, what it refuses, what it delivers and when it ends."""

import json
import threading
import time
from contextlib import suppress
from datetime import timedelta

import httpx
import pytest
from django.conf import settings as django_settings
from django.db import connections
from django.test import Client
from django.utils import timezone
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from portal import tenancy
from portal.live import consumer, hint, rechecks, topics
from portal.live.door import Closing, Knock
from portal.organizations.models import Membership
from portal.tenancy import Role
from portal.tokens import tickets
from portal.tokens.models import SocketTicket, Token
from portal.tokens.sockets import PodiumDoor
from tests.portal.server import serving


@pytest.fixture(scope="module")
def address(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock(), serving() as where:
        yield where


@pytest.fixture
def quick(monkeypatch):
    """Checks again and beats within the patience of a test."""
    monkeypatch.setattr(rechecks, "RECHECK_SECONDS", 0.3)
    monkeypatch.setattr(consumer, "HEARTBEAT_SECONDS", 0.2)


def ticket_of(client, path="/ws/v1") -> str:
    return client.post("/api/v1/tickets", {"path": path}, content_type="application/json").json()["ticket"]


def cookies(client) -> str:
    name = django_settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


def browser(address, person=None, origin="own", ticket=None, **headers):
    """A page's socket: with a ticket when somebody is signed in."""
    ticket = ticket or (person and ticket_of(person.browser()))
    given = f"http://{address}" if origin == "own" else origin
    protocols = ["podium.v1", f"ticket.{ticket}"] if ticket else ["podium.v1"]
    return connect(f"ws://{address}/ws/v1", additional_headers=headers, origin=given, subprotocols=protocols)


def bearer(address, secret):
    return connect(f"ws://{address}/ws/v1", additional_headers={"Authorization": f"Bearer {secret}"})


def subscribe(ws, topic, after=0) -> None:
    ws.send(json.dumps({"type": "subscribe", "topic": topic, "after": after}))


def take(ws, kind, seconds=5.0) -> dict:
    """The next frame of a kind; others pass by."""
    end = time.monotonic() + seconds
    while True:
        frame = json.loads(ws.recv(timeout=max(0.01, end - time.monotonic())))
        if frame["type"] == kind:
            return frame


def hears(ws, what, seconds=5.0) -> bool:
    """Whether a `changed` frame with this arrives; the empty one of a hub that has just begun to listen passes by."""
    end = time.monotonic() + seconds
    try:
        while take(ws, "changed", end - time.monotonic())["what"] != what:
            pass
    except TimeoutError:
        return False
    return True


def settle(ws) -> None:
    """Wait until what was asked has been done."""
    ws.send(json.dumps({"type": "ping"}))
    take(ws, "pong")


def closed_with(ws, seconds=5.0) -> int:
    end = time.monotonic() + seconds
    with suppress(ConnectionClosed):
        while True:
            ws.recv(timeout=max(0.01, end - time.monotonic()))
    return ws.close_code


@pytest.mark.parametrize("origin", ["http://evil.example", "null", None, "https://127.0.0.1.evil.example"])
def test_a_cookie_from_another_page_opens_nothing(address, person, origin):
    with pytest.raises(InvalidStatus) as refused:
        browser(address, person, origin=origin, Cookie=cookies(person.browser()))
    assert refused.value.response.status_code == 403


def test_a_foreign_page_without_cookies_is_refused_too(address):
    with pytest.raises(InvalidStatus):
        browser(address, origin="http://evil.example")


def test_another_address_is_no_socket(address):
    with pytest.raises(InvalidStatus):
        connect(f"ws://{address}/ws/other", origin=f"http://{address}")


def test_signed_out_pages_may_open_it_and_see_nothing_private(address, person):
    with browser(address) as ws:
        assert take(ws, "hello")["server_time"]
        for topic in (f"project:{person.project_id}", "pod:1", "nonsense", "job:*", "project:" + "x" * 500):
            subscribe(ws, topic)
            refused = take(ws, "refused")
            assert (refused["topic"], refused["code"]) == (topic[:200], "not_found")


def test_a_member_hears_what_changes_in_the_project(address, person):
    with browser(address, person) as ws:
        subscribe(ws, f"project:{person.project_id}")
        settle(ws)
        what = {"kind": "job", "id": "1", "state": "running"}
        hint(f"project:{person.project_id}", what)
        assert hears(ws, what)


def test_an_upload_in_one_browser_is_told_to_the_other(address, person):
    with bearer(address, person.secret("models:read")) as ws:
        subscribe(ws, f"project:{person.project_id}")
        settle(ws)
        client = person.browser()
        upload = client.post("/api/v1/uploads", {"name": "m.onnx", "size": 3}, content_type="application/json").json()
        client.put(
            f"/api/v1/uploads/{upload['id']}", b"abc", "application/octet-stream", headers={"Upload-Offset": "0"}
        )
        model = client.post(f"/api/v1/uploads/{upload['id']}/complete").json()
        assert hears(ws, {"kind": "model", "id": model["id"], "state": "inspecting"})


def test_a_stranger_is_refused(address, person, stranger):
    for ws in (browser(address, stranger), bearer(address, stranger.secret("jobs:read"))):
        with ws:
            subscribe(ws, f"project:{person.project_id}")
            assert take(ws, "refused")["code"] == "not_found"
            hint(f"project:{person.project_id}", {"kind": "job"})
            assert not hears(ws, {"kind": "job"}, 0.5)


def test_a_bad_token_is_told_so(address):
    with bearer(address, "pod_nonsense") as ws:
        assert closed_with(ws) == 4401
        assert ws.close_reason == "auth.invalid"


def test_unsubscribing_ends_it(address, person):
    topic = f"project:{person.project_id}"
    with browser(address, person) as ws:
        subscribe(ws, topic)
        ws.send(json.dumps({"type": "unsubscribe", "topic": topic}))
        settle(ws)
        hint(topic, {"kind": "job"})
        assert not hears(ws, {"kind": "job"}, 0.5)


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("not json", 4400),
        ("[1]", 4400),
        ("[" * 30_000, 4400),
        ('{"type":"shout"}', 4400),
        ('{"type":"subscribe","topic":7}', 4400),
        ('{"type":"subscribe","topic":"pod:1","after":-1}', 4400),
        ('{"type":"subscribe","topic":"pod:1","after":"0"}', 4400),
        (b"bytes", 4400),
        ("x" * 70_000, 1009),
    ],
)
def test_nonsense_ends_the_connection_with_a_reason(address, message, code):
    with browser(address) as ws:
        ws.send(message)
        assert closed_with(ws) == code


def test_a_flood_ends_the_connection(address):
    with browser(address) as ws:
        with suppress(ConnectionClosed):
            for _ in range(500):
                ws.send('{"type":"ping"}')
        assert closed_with(ws) == 4429


def test_topics_are_counted(address, person, monkeypatch):
    monkeypatch.setattr(consumer, "MOST_TOPICS", 2)
    with browser(address, person) as ws:
        for number in range(3):
            subscribe(ws, f"pod:{number}")
        assert take(ws, "refused") == {"type": "refused", "topic": "pod:2", "code": "too_many_topics"}


def test_a_cookie_alone_is_nobody(address, person):
    with browser(address, Cookie=cookies(person.browser())) as ws:
        subscribe(ws, f"project:{person.project_id}")
        assert take(ws, "refused")["code"] == "not_found"


def test_the_ticket_is_not_sent_back(address, person):
    with browser(address, person) as ws:
        assert ws.subprotocol == "podium.v1"


def test_a_ticket_opens_one_socket(address, person):
    ticket = ticket_of(person.browser())
    with browser(address, ticket=ticket) as ws:
        take(ws, "hello")
    with browser(address, ticket=ticket) as ws:
        assert (closed_with(ws), ws.close_reason) == (4401, "ticket.invalid")


def test_fifty_sockets_with_one_ticket_are_one(person):
    ticket, barrier, opened = ticket_of(person.browser()), threading.Barrier(50), []

    def knock() -> None:
        barrier.wait(30)
        with suppress(Closing):
            opened.append(PodiumDoor().admit(Knock("/ws/v1", None, ticket, "127.0.0.1")).actor)
        connections.close_all()

    threads = [threading.Thread(target=knock) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [actor.user_id for actor in opened] == [person.user.id]


def test_a_ticket_is_for_its_path_and_for_half_a_minute(person):
    ticket = ticket_of(person.browser())
    assert tickets.redeem(ticket=ticket, path="/ws/v2") is None
    with tenancy.context(role="system"):
        rows = SocketTicket.objects.filter(user_id=person.user.id)
        assert timedelta(seconds=25) < rows.get().expires_at - timezone.now() <= timedelta(seconds=30)
        rows.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert tickets.redeem(ticket=ticket, path="/ws/v1") is None


def test_tickets_are_for_signed_in_browsers_and_known_paths(person):
    body = {"data": {"path": "/ws/v1"}, "content_type": "application/json"}
    assert Client().post("/api/v1/tickets", **body).status_code == 401
    assert person.bearer("jobs:read").post("/api/v1/tickets", **body).json()["code"] == "auth.session_only"
    other = person.browser().post("/api/v1/tickets", {"path": "/other"}, content_type="application/json")
    assert other.json()["code"] == "ticket.unknown_path"


def test_a_ticket_of_a_session_that_has_ended_opens_nothing(address, person):
    client = person.browser()
    ticket = ticket_of(client)
    client.logout()
    with browser(address, ticket=ticket) as ws:
        assert (closed_with(ws), ws.close_reason) == (4412, "session.ended")


def test_signing_out_ends_the_socket(address, person, quick):
    client = person.browser()
    with browser(address, ticket=ticket_of(client)) as ws:
        subscribe(ws, f"project:{person.project_id}")
        settle(ws)
        client.logout()
        assert (closed_with(ws), ws.close_reason) == (4412, "session.ended")


def test_another_password_ends_the_socket(address, person, quick):
    with browser(address, person) as ws:
        take(ws, "hello")
        type(person.user).objects.filter(id=person.user.id).update(password="!")
        assert (closed_with(ws), ws.close_reason) == (4412, "session.ended")


@pytest.mark.parametrize("by", ["session", "token"])
def test_a_suspended_person_is_put_out(address, person, quick, by):
    with browser(address, person) if by == "session" else bearer(address, person.secret("jobs:read")) as ws:
        take(ws, "hello")
        type(person.user).objects.filter(id=person.user.id).update(is_active=False)
        assert (closed_with(ws), ws.close_reason) == (4413, "person.suspended")


def test_a_revoked_token_ends_the_socket(address, person, quick):
    secret = person.secret("jobs:read")
    with bearer(address, secret) as ws:
        take(ws, "hello")
        client = person.browser()
        client.delete(f"/api/v1/tokens/{client.get('/api/v1/tokens').json()['results'][0]['id']}")
        assert (closed_with(ws), ws.close_reason) == (4410, "token.revoked")


def test_an_expired_token_ends_the_socket_and_opens_none(address, person, quick):
    secret = person.secret("jobs:read")
    with bearer(address, secret) as ws:
        take(ws, "hello")
        with person.opened():
            Token.objects.filter(user_id=person.user.id).update(expires_at=timezone.now())
        assert (closed_with(ws), ws.close_reason) == (4411, "token.expired")
    with bearer(address, secret) as ws:
        assert (closed_with(ws), ws.close_reason) == (4411, "token.expired")


def test_a_token_of_another_network_opens_no_socket(address, person):
    body = {
        "name": "t",
        "scopes": ["jobs:read"],
        "networks": ["192.0.2.0/24"],
        "expires_in_days": 1,
        "organization_id": str(person.org_id),
    }
    secret = person.browser().post("/api/v1/tokens", body, content_type="application/json").json()["token"]
    with bearer(address, secret) as ws:
        assert (closed_with(ws), ws.close_reason) == (4415, "token.wrong_network")


def test_a_token_ends_with_the_membership(address, person, new_person, quick):
    guest = new_person(joins=person)
    body = {"name": "t", "scopes": ["jobs:read"], "expires_in_days": 1, "organization_id": str(person.org_id)}
    secret = guest.browser().post("/api/v1/tokens", body, content_type="application/json").json()["token"]
    with bearer(address, secret) as ws:
        take(ws, "hello")
        person.browser().delete(f"/api/v1/organizations/{person.org_id}/members/{guest.user.id}")
        assert (closed_with(ws), ws.close_reason) == (4414, "membership.ended")


def test_many_sockets_are_checked_with_few_questions(person, new_person, django_assert_max_num_queries):
    door = PodiumDoor()
    people = [person, *(new_person() for _ in range(5))]
    admitted = [door.admit(Knock("/ws/v1", None, ticket_of(one.browser()), None)) for one in people]
    with django_assert_max_num_queries(8, connection=connections["system"]):
        checked = door.recheck([one.credential for one in admitted])
    assert [checked[one.credential] for one in admitted] == [one.actor for one in admitted]


def test_a_lost_membership_ends_the_topic(address, person, new_person, quick):
    guest = new_person(joins=person, role=Role.VIEWER)
    topic = f"project:{person.project_id}"
    with browser(address, guest) as ws:
        subscribe(ws, topic)
        settle(ws)
        with person.opened():
            Membership.objects.filter(org_id=person.org_id, user=guest.user).delete()
        assert take(ws, "refused") == {"type": "refused", "topic": topic, "code": "not_found"}
        hint(topic, {"kind": "job"})
        assert not hears(ws, {"kind": "job"}, 0.5)


@pytest.fixture
def counted():
    """A topic with rows, for what is the same in every such topic. The rows of jobs have their own tests."""
    rows: list[dict] = []
    topics.register_topic(
        "counted", authorise=lambda actor, name: actor is not None, read=lambda name, after, limit: rows[after:][:limit]
    )
    yield rows
    topics._kinds.pop("counted")


def add(rows: list[dict], count: int) -> None:
    rows += [{"seq": len(rows) + 1 + n, "kind": "log"} for n in range(count)]


def test_a_dropped_connection_resumes_from_its_cursor(address, person, counted, quick):
    add(counted, 5)
    with browser(address, person) as ws:
        subscribe(ws, "counted:1")
        assert [event["seq"] for event in take(ws, "events")["events"]] == [1, 2, 3, 4, 5]
    add(counted, 4)
    with browser(address, person) as ws:
        subscribe(ws, "counted:1", after=5)
        frame = take(ws, "events")
        assert [event["seq"] for event in frame["events"]] == [6, 7, 8, 9]
        assert frame["last_seq"] == 9


def test_a_lost_hint_costs_a_heartbeat_and_no_event(address, person, counted, quick):
    with browser(address, person) as ws:
        subscribe(ws, "counted:1")
        assert take(ws, "events")["events"] == []
        add(counted, 2)
        assert [event["seq"] for event in take(ws, "events")["events"]] == [1, 2]
        deadline = time.monotonic() + 3
        while take(ws, "heartbeat")["topics"] != {"counted:1": 2}:
            assert time.monotonic() < deadline


def test_two_sockets_see_the_same(address, person, counted):
    with browser(address, person) as one, browser(address, person) as two:
        for ws in (one, two):
            subscribe(ws, "counted:1")
            take(ws, "events")
        add(counted, 3)
        hint("counted:1")
        assert take(one, "events") == take(two, "events")


def test_pages_and_the_api_come_from_the_same_server(address, person):
    with httpx.Client(base_url=f"http://{address}") as client:
        assert client.get("/livez").json() == {"status": "ok"}
        page = client.get("/models/anything")
        assert page.headers["content-type"].startswith("text/html")
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert client.get("/api/v1/nothing").json()["code"] == "not_found"
        assert client.get("/assets/missing.js").status_code == 404


def test_a_body_beyond_the_bound_is_refused_unread(address):
    answer = httpx.put(f"http://{address}/api/v1/uploads/x", content=b"0" * (9 * 1024 * 1024))
    assert (answer.status_code, answer.json()["code"]) == (413, "request.too_large")


def test_a_stored_file_is_streamed_as_an_attachment(address, person):
    client = person.browser()
    content = bytes(range(256)) * 4096
    upload = client.post(
        "/api/v1/uploads", {"name": 'x".html', "size": len(content)}, content_type="application/json"
    ).json()
    client.put(f"/api/v1/uploads/{upload['id']}", content, "application/octet-stream", headers={"Upload-Offset": "0"})
    model = client.post(f"/api/v1/uploads/{upload['id']}/complete").json()
    answer = httpx.get(
        f"http://{address}/api/v1/models/{model['id']}/file",
        headers={"Authorization": f"Bearer {person.secret('models:read')}"},
        timeout=timedelta(seconds=20).total_seconds(),
    )
    assert answer.content == content
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
