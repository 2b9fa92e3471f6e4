"""Following a job: each event once and in order, whatever happens to the connection."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection
from websockets.sync.server import serve as serve_socket

from podium_client import PodiumError, WaitTimeout
from podium_client import live as live_module
from podium_client.live import follow
from podium_client.transport import Transport

EVENTS = [
    {"seq": seq, "kind": "ended" if seq == 9 else "log", "attempt": 1, "time": "", "data": {"lines": []}}
    for seq in range(1, 10)
]
Say = Callable[[ServerConnection, int], None]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(live_module, "SOCKET_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(live_module, "SILENCE_SECONDS", 0.3)


@contextmanager
def portal(say: Say | None, *, polled: int = 0) -> Iterator[tuple[str, list[int]]]:
    """A server whose socket says what the test wants (None: it has no socket) and whose HTTP knows `polled` events."""
    subscriptions: list[int] = []

    def talk(socket: ServerConnection) -> None:
        frame = json.loads(socket.recv())
        subscriptions.append(frame["after"])
        if say is not None:
            say(socket, frame["after"])

    def http(socket: ServerConnection, request: Request) -> Response | None:
        if request.path == "/ws/v1":
            return socket.respond(404, "no socket here") if say is None else None
        after = int(parse_qs(urlsplit(request.path).query)["after"][0])
        body = json.dumps({"results": EVENTS[after:polled], "last_seq": polled}).encode()
        return Response(200, "OK", Headers({"Content-Length": str(len(body)), "Connection": "close"}), body)

    with serve_socket(talk, "127.0.0.1", 0, process_request=http) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}", subscriptions
        finally:
            server.shutdown()
            thread.join()


def send(socket: ServerConnection, *chosen: dict[str, Any]) -> None:
    socket.send(json.dumps({"type": "events", "topic": "job:j", "events": chosen, "last_seq": chosen[-1]["seq"]}))


def sequence(url: str, **options: Any) -> list[int]:
    return [event["seq"] for event in follow(Transport(url, "pod_x"), "j", **options)]


def test_the_socket_alone_is_enough() -> None:
    def say(socket: ServerConnection, after: int) -> None:
        socket.send(json.dumps({"type": "hello"}))
        send(socket, *EVENTS[:5])
        socket.send(json.dumps({"type": "heartbeat", "topics": {"job:j": 5}}))
        send(socket, *EVENTS[5:])

    with portal(say) as (url, subscriptions):
        assert sequence(url) == list(range(1, 10))
        assert subscriptions == [0]


def test_events_told_twice_are_given_once() -> None:
    def say(socket: ServerConnection, after: int) -> None:
        send(socket, *EVENTS[:6])
        send(socket, *EVENTS[3:])

    with portal(say) as (url, _):
        assert sequence(url) == list(range(1, 10))


def test_a_gap_is_filled_from_the_cursor() -> None:
    def say(socket: ServerConnection, after: int) -> None:
        if after == 0:
            send(socket, *EVENTS[:2])
            send(socket, *EVENTS[4:])
        else:
            send(socket, *EVENTS[after:])

    with portal(say, polled=4) as (url, subscriptions):
        assert sequence(url) == list(range(1, 10))
        assert subscriptions == [0, 4]


def test_a_dropped_connection_resumes_from_the_cursor() -> None:
    with portal(lambda socket, after: send(socket, *EVENTS[after : after + 4])) as (url, subscriptions):
        assert sequence(url) == list(range(1, 10))
        assert subscriptions == [0, 4, 8]


def test_without_a_socket_polling_does() -> None:
    with portal(None, polled=9) as (url, _):
        assert sequence(url) == list(range(1, 10))


def test_following_starts_after_what_is_known() -> None:
    with portal(lambda socket, after: send(socket, *EVENTS[after:])) as (url, _):
        assert sequence(url, after=7) == [8, 9]


def test_a_refused_topic_is_an_error_and_not_silence() -> None:
    def say(socket: ServerConnection, after: int) -> None:
        socket.send(json.dumps({"type": "refused", "topic": "job:j", "code": "not_found"}))

    with portal(say) as (url, _), pytest.raises(PodiumError, match="cannot be followed"):
        sequence(url)


def test_waiting_ends_at_the_deadline_and_says_how_to_cancel() -> None:
    def chatter(socket: ServerConnection, after: int) -> None:
        for _ in range(300):
            socket.send(json.dumps({"type": "heartbeat", "topics": {}}))
            time.sleep(0.01)

    with portal(chatter) as (url, _), pytest.raises(WaitTimeout, match="podium cancel j"):
        sequence(url, deadline=time.monotonic() + 0.2)
