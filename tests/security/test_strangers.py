"""Another tenant's things: 404 on every route, a refusal on every topic, and nothing of them in any answer."""

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.urls import URLPattern, URLResolver, get_resolver
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from portal.live.topics import kinds
from tests.e2e.people import Person
from tests.e2e.stack import Stack
from tests.security import matrix
from tests.security.owner import Owner

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]
METHODS = ("get", "post", "put", "patch", "delete")
PRIVATE = [(route, method) for route, methods in matrix.PRIVATE.items() for method in methods]
REFERENCES = [(route, body) for route, bodies in matrix.REFERENCES.items() for body in bodies]


def routes(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str, set[str]]]:
    """Every address of the URLconf with the methods its view answers."""
    for pattern in patterns:
        address = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, address)
        elif isinstance(pattern, URLPattern):
            view = getattr(pattern.callback, "view_class", None) or getattr(pattern.callback, "cls", None)
            yield address, {method.upper() for method in METHODS if view is None or hasattr(view, method)}


def in_api(address: str) -> str:
    return address.removeprefix("api/v1/")


def filled(template: Any, owner: Owner) -> Any:
    """An address or a body with the owner's ids in it."""
    if isinstance(template, str):
        for name, value in owner.things.items():
            for kind in ("", "uuid:", "slug:", "str:"):
                template = template.replace(f"<{kind}{name}>", value)
            template = template.replace("{" + name + "}", value)
        assert "<" not in template, f"no thing of the owner for {template}"
        return template
    if isinstance(template, dict):
        return {key: filled(value, owner) for key, value in template.items()}
    return template


def absent(owner: Owner) -> Owner:
    """The owner's things with ids that nothing has; what belongs to nobody stays."""
    kept = ("pod_id", "slug", "start", "end")
    return replace(
        owner, things={name: value if name in kept else str(uuid4()) for name, value in owner.things.items()}
    )


def request(web: httpx.Client, method: str, address: str, body: Any, headers: dict[str, str]) -> httpx.Response:
    if isinstance(body, bytes):
        headers = headers | {"Content-Type": "application/octet-stream", "Upload-Offset": "0"}
        return web.request(method, address, content=body, headers=headers)
    return web.request(method, address, json=body, headers=headers)


def both_ways(stranger: Person) -> list[tuple[httpx.Client, dict[str, str]]]:
    """The stranger as a browser and as a token: they reach the API through different doors."""
    cookie = next(cookie.value or "" for cookie in stranger.web.cookies.jar if "csrf" in cookie.name)
    return [(stranger.web, {"X-CSRFToken": cookie, "Referer": stranger.stack.url}), (stranger.api, {})]


def leaks(answer: httpx.Response, owner: Owner, *, sent: str = "") -> set[str]:
    """Secrets of the owner in the answer that the question did not hold already."""
    return {secret for secret in owner.secrets() if secret in answer.text and secret not in sent}


def test_every_route_has_an_entry() -> None:
    missing = []
    for address, methods in routes(get_resolver().url_patterns):
        if any(address.startswith(prefix) for prefix in matrix.OUTSIDE):
            continue
        route = in_api(address)
        if route in matrix.PRIVATE:
            untried = methods - set(matrix.PRIVATE[route])
        elif route in matrix.OPERATORS:
            untried = methods - set(matrix.OPERATORS[route])
        elif route in matrix.PUBLIC or route in matrix.SHARED:
            untried = methods - {"GET"}
        elif route in matrix.PUBLIC_POSTS:
            untried = methods - {"POST"}
        else:
            untried = methods - ({"GET"} if route in (*matrix.LISTS, *matrix.IN_PERSON) else set())
            untried -= {"POST"} if route in matrix.REFERENCES else set()
        missing += [f"{method} {address}" for method in sorted(untried)]
    assert missing == [], "say in tests/security/matrix.py what a stranger gets there"


def test_no_entry_is_left_of_a_route_that_is_gone() -> None:
    known = {in_api(address) for address, _ in routes(get_resolver().url_patterns)}
    named = {*matrix.PRIVATE, *matrix.LISTS, *matrix.REFERENCES, *matrix.PUBLIC, *matrix.SHARED}
    named |= {*matrix.IN_PERSON, *matrix.OPERATORS, *matrix.PUBLIC_POSTS}
    assert named - known == set()


@pytest.mark.parametrize(("route", "method"), PRIVATE, ids=[f"{method} {route}" for route, method in PRIVATE])
def test_a_stranger_gets_404_and_somebody_signed_out_401(
    route: str, method: str, owner: Owner, stranger: Person, stack: Stack
) -> None:
    address, body = f"/api/v1/{filled(route, owner)}", filled(matrix.PRIVATE[route][method], owner)
    for web, headers in both_ways(stranger):
        answer = request(web, method, address, body, headers)
        if answer.status_code == 403 and answer.json()["code"] == "auth.session_only" and web is stranger.api:
            continue  # not for tokens at all, whoever's thing it is
        assert answer.status_code == 404, answer.text
        assert answer.json()["code"] == "not_found"
        assert leaks(answer, owner, sent=address) == set()
    with httpx.Client(base_url=stack.url) as nobody:
        answer = request(nobody, method, address, body, {})
        assert answer.status_code in (401, 403), answer.text
        assert leaks(answer, owner, sent=address) == set()


@pytest.mark.parametrize("route", [route for route, methods in matrix.PRIVATE.items() if "GET" in methods])
def test_the_owner_is_answered_where_the_stranger_is_not(route: str, owner: Owner) -> None:
    answer = owner.person.api.get(f"/api/v1/{filled(route, owner)}")
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("route", matrix.LISTS)
def test_lists_hold_the_callers_rows_alone(route: str, owner: Owner, stranger: Person, stack: Stack) -> None:
    address = f"/api/v1/{route}"
    for web, headers in both_ways(stranger):
        answer = web.get(address, headers=headers)
        assert answer.status_code == 200, answer.text
        assert leaks(answer, owner) == set()
    assert leaks(owner.person.api.get(address), owner), "the owner's own list should show the owner's things"
    assert httpx.get(stack.url + address).status_code in (401, 403)


@pytest.mark.parametrize("route", matrix.IN_PERSON)
def test_lists_for_browsers_hold_the_callers_rows_alone(route: str, owner: Owner, stranger: Person) -> None:
    address = f"/api/v1/{route}"
    answer = stranger.web.get(address)
    assert answer.status_code == 200, answer.text
    assert leaks(answer, owner) == set()
    assert leaks(owner.person.web.get(address), owner), "the owner's own list should show the owner's things"
    assert owner.person.api.get(address).json()["code"] == "auth.session_only"
    assert httpx.get(owner.person.stack.url + address).status_code == 401


@pytest.mark.parametrize(
    ("route", "method"), [(route, method) for route, methods in matrix.OPERATORS.items() for method in methods]
)
def test_what_operators_see_is_not_there_for_others(
    route: str, method: str, owner: Owner, stranger: Person, stack: Stack
) -> None:
    address, body = f"/api/v1/{filled(route, owner)}", filled(matrix.OPERATORS[route][method], owner)
    for person in (owner.person, stranger):
        (web, headers), (api, _) = both_ways(person)
        answer = request(web, method, address, body, headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert request(api, method, address, body, {}).json()["code"] == "auth.session_only"
    with httpx.Client(base_url=stack.url) as nobody:
        assert request(nobody, method, address, body, {}).status_code in (401, 403)


@pytest.mark.parametrize("name", ["project_id", "organization_id", "model_id", "reservation_id"])
@pytest.mark.parametrize("route", matrix.LISTS)
def test_a_filter_by_another_tenants_id_finds_nothing(route: str, name: str, owner: Owner, stranger: Person) -> None:
    answer = stranger.api.get(f"/api/v1/{route}", params={name: owner.things[name]})
    assert answer.status_code in (200, 404, 422), answer.text
    assert leaks(answer, owner, sent=owner.things[name]) == set()


@pytest.mark.parametrize(("route", "body"), REFERENCES, ids=[f"{route} {list(body)[-1]}" for route, body in REFERENCES])
def test_nothing_is_made_of_another_tenants_things(
    route: str, body: dict[str, Any], owner: Owner, stranger: Person, stack: Stack
) -> None:
    address, sent = f"/api/v1/{route}", filled(body, owner)
    nowhere = filled(body, absent(owner))
    for web, headers in both_ways(stranger):
        answer = request(web, "POST", address, sent, headers)
        if answer.status_code == 403 and answer.json()["code"] == "auth.session_only" and web is stranger.api:
            continue
        assert answer.status_code in (404, 422), answer.text
        assert leaks(answer, owner, sent=json.dumps(sent)) == set()
        not_there = request(web, "POST", address, nowhere, headers)
        assert (not_there.status_code, not_there.json()["code"]) == (answer.status_code, answer.json()["code"])
    assert request(httpx.Client(base_url=stack.url), "POST", address, sent, {}).status_code in (401, 403)


@pytest.mark.parametrize("route", [route for route in matrix.PUBLIC if route != "outbox"])
def test_public_answers_hold_nothing_of_a_tenant(route: str, owner: Owner, stranger: Person, stack: Stack) -> None:
    address = f"/api/v1/{filled(route, owner)}"
    with httpx.Client(base_url=stack.url) as nobody:
        for answer in (nobody.get(address), stranger.api.get(address)):
            assert answer.status_code == 200, answer.text
            assert leaks(answer, owner) == set()


@pytest.mark.parametrize("route", matrix.PUBLIC_POSTS)
def test_public_posts_tell_nothing_of_a_tenant(route: str, owner: Owner, stack: Stack) -> None:
    body = {"client_id": "c", "scope": "jobs:read", "device_code": owner.things["token_id"], "grant_type": "x"}
    with httpx.Client(base_url=stack.url) as nobody:
        answer = nobody.post(f"/api/v1/{route}", json=body)
    assert answer.status_code in (200, 422), answer.text
    assert leaks(answer, owner) == set()


@pytest.mark.parametrize("route", matrix.SHARED)
def test_shared_answers_hold_nothing_of_a_tenant(route: str, owner: Owner, stranger: Person, stack: Stack) -> None:
    span = {"from": owner.things["start"], "to": owner.things["end"]}
    address = f"/api/v1/{filled(route, owner)}"
    answer = stranger.api.get(address, params=span)
    assert answer.status_code == 200, answer.text
    assert leaks(answer, owner) == set()
    assert httpx.get(stack.url + address, params=span).status_code == 401


def test_the_outbox_is_for_this_machine_alone(stack: Stack) -> None:
    """A proxy on this machine says for whom it asks."""
    address = f"{stack.url}/api/v1/outbox"
    assert httpx.get(address).status_code == 200
    assert httpx.get(address, headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 404


def subscribe(stack: Stack, topic: str, headers: dict[str, str]) -> dict[str, Any]:
    """The first frame about the topic within a moment, or {} when the server accepted it without a word."""
    protocols = [Subprotocol(f"ticket.{headers['ticket']}")] if "ticket" in headers else []
    sent = {name: value for name, value in headers.items() if name != "ticket"}
    address = "ws" + stack.url.removeprefix("http") + "/ws/v1"
    with connect(address, additional_headers=sent, subprotocols=[Subprotocol("podium.v1"), *protocols]) as socket:
        socket.send(json.dumps({"type": "subscribe", "topic": topic, "after": 0}))
        socket.send(json.dumps({"type": "ping"}))
        for _ in range(50):
            frame = json.loads(socket.recv(timeout=10))
            if frame.get("topic") == topic:
                return frame
            if frame["type"] == "pong":
                break
        try:
            while True:
                frame = json.loads(socket.recv(timeout=1.0))
                if frame.get("topic") == topic:
                    return frame
        except TimeoutError:
            return {}


def doors(stack: Stack, person: Person | None) -> list[dict[str, str]]:
    if person is None:
        return [{"Origin": stack.url}]
    ticket = person.send("POST", "/api/v1/tickets", json={"path": "/ws/v1"}).json()["ticket"]
    return [{"Authorization": f"Bearer {person.token}"}, {"ticket": ticket, "Origin": stack.url}]


def test_every_kind_of_topic_has_an_entry() -> None:
    assert set(kinds()) == {*matrix.PRIVATE_TOPICS, *matrix.PUBLIC_TOPICS, *matrix.SHARED_TOPICS}


@pytest.mark.parametrize(("kind", "who"), list(itertools.product(matrix.PRIVATE_TOPICS, ["stranger", "nobody"])))
def test_a_stranger_is_refused_on_the_socket(kind: str, who: str, owner: Owner, stranger: Person, stack: Stack) -> None:
    topic = f"{kind}:{filled(matrix.PRIVATE_TOPICS[kind], owner)}"
    for headers in doors(stack, stranger if who == "stranger" else None):
        assert subscribe(stack, topic, headers) == {"type": "refused", "topic": topic, "code": "not_found"}
    for headers in doors(stack, owner.person):
        assert subscribe(stack, topic, headers).get("type") != "refused"


def test_a_job_topic_tells_its_owner_everything(owner: Owner, stack: Stack) -> None:
    frame = subscribe(stack, f"job:{owner.things['job_id']}", doors(stack, owner.person)[0])
    assert [event["seq"] for event in frame["events"]][:3] == [1, 2, 3]


@pytest.mark.parametrize("kind", matrix.PUBLIC_TOPICS)
def test_public_topics_are_open_to_everybody(kind: str, owner: Owner, stack: Stack) -> None:
    topic = f"{kind}:{filled(matrix.PUBLIC_TOPICS[kind][0], owner)}"
    assert subscribe(stack, topic, {"Origin": stack.url}).get("type") != "refused"


@pytest.mark.parametrize("kind", matrix.SHARED_TOPICS)
def test_shared_topics_are_open_to_whoever_is_signed_in(
    kind: str, owner: Owner, stranger: Person, stack: Stack
) -> None:
    topic = f"{kind}:{filled(matrix.SHARED_TOPICS[kind][0], owner)}"
    for headers in doors(stack, stranger):
        assert subscribe(stack, topic, headers).get("type") != "refused"
    assert subscribe(stack, topic, {"Origin": stack.url})["type"] == "refused"


def test_a_session_is_not_usable_from_another_site(owner: Owner, stack: Stack) -> None:
    """A page elsewhere may open a socket with the visitor's cookies; its Origin gives it away."""
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in owner.person.web.cookies.jar)
    headers = {"Cookie": cookies, "Origin": "https://evil.example"}
    with pytest.raises(Exception, match=r"403|rejected|401"):
        subscribe(stack, f"job:{owner.things['job_id']}", headers)


def test_after_all_this_the_owners_things_are_as_they_were(owner: Owner) -> None:
    api = owner.person.api
    assert api.get(f"/api/v1/models/{owner.things['model_id']}").json()["state"] == "accepted"
    assert api.get(f"/api/v1/jobs/{owner.things['job_id']}").json()["state"] == "succeeded"
    assert api.get(f"/api/v1/reservations/{owner.things['reservation_id']}").json()["state"] == "booked"
    assert api.get(f"/api/v1/uploads/{owner.things['upload_id']}").json()["received"] == 0
    members = api.get(f"/api/v1/organizations/{owner.things['organization_id']}/members").json()["results"]
    assert [row["role"] for row in members] == ["owner"]
