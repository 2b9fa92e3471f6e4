"""A job's events as they happen, each once and in order: over the socket, by polling where none can be had."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

from podium_client.errors import ConnectionLost, PodiumError, WaitTimeout
from podium_client.transport import Transport
from podium_client.types import Event

POLL_SECONDS = 1.0
SILENCE_SECONDS = 25.0  # the server says something at least every 10 s
SOCKET_RETRY_SECONDS = 15.0
OUTAGE_SECONDS = 120.0
PAGE = 500
LARGEST_FRAME_BYTES = 16 << 20


class Refused(PodiumError):
    """The server does not let this token follow the job."""


def follow(transport: Transport, job_id: str, *, after: int = 0, deadline: float | None = None) -> Iterator[Event]:
    """Events with `seq > after` until the job has ended. `deadline` is on the clock of `time.monotonic`."""
    cursor = after
    heard = time.monotonic()
    while True:
        for source in (_from_socket, _from_polling):
            try:
                for event in source(transport, job_id, cursor, deadline):
                    cursor = event["seq"]
                    heard = time.monotonic()
                    yield event
                    if event["kind"] == "ended":
                        return
            except ConnectionLost:
                # A server that restarts is waited for, since the job outlives it.
                if time.monotonic() - heard > OUTAGE_SECONDS:
                    raise
                _check(deadline, job_id)


def _from_socket(transport: Transport, job_id: str, cursor: int, deadline: float | None) -> Iterator[Event]:
    """Events from one connection; ends quietly when the connection does."""
    topic = f"job:{job_id}"
    try:
        with _open(transport, deadline) as socket:
            socket.send(json.dumps({"type": "subscribe", "topic": topic, "after": cursor}))
            while True:
                _check(deadline, job_id)
                frame = json.loads(socket.recv(timeout=_patience(deadline, SILENCE_SECONDS)))
                if frame["type"] == "refused":
                    raise Refused(frame.get("code", "not_found"), f"Job {job_id} cannot be followed.", status=404)
                if frame.get("topic") != topic or frame["type"] != "events":
                    continue
                for event in frame["events"]:
                    if event["seq"] <= cursor:
                        continue
                    if event["seq"] != cursor + 1:
                        return  # a gap: the next source asks again from the cursor
                    cursor = event["seq"]
                    yield cast(Event, event)
    except (OSError, WebSocketException, ValueError):  # TimeoutError is an OSError
        _check(deadline, job_id)


def _from_polling(transport: Transport, job_id: str, cursor: int, deadline: float | None) -> Iterator[Event]:
    """Events by HTTP for a while, after which the socket is tried again."""
    until = time.monotonic() + SOCKET_RETRY_SECONDS
    while True:
        page = transport.get(f"jobs/{job_id}/events", after=cursor, limit=PAGE)
        for event in page["results"]:
            cursor = event["seq"]
            yield cast(Event, event)
        _check(deadline, job_id)
        if time.monotonic() > until:
            return
        if not page["results"]:
            time.sleep(POLL_SECONDS)


def _open(transport: Transport, deadline: float | None) -> ClientConnection:
    address = "ws" + transport.url.removeprefix("http") + "/ws/v1"
    return connect(
        address,
        additional_headers=transport.headers,
        open_timeout=_patience(deadline, 10.0),
        close_timeout=1.0,
        max_size=LARGEST_FRAME_BYTES,
    )


def _patience(deadline: float | None, longest: float) -> float:
    return longest if deadline is None else max(0.05, min(longest, deadline - time.monotonic()))


def _check(deadline: float | None, job_id: str) -> None:
    if deadline is not None and time.monotonic() >= deadline:
        raise WaitTimeout(f"Job {job_id} had not ended in time. It goes on; `podium cancel {job_id}` stops it.")


def poll_until(read: Callable[[], Any], done: Callable[[Any], bool], *, deadline: float | None, what: str) -> Any:
    """Read with growing pauses until `done`; the value that was done."""
    pause = 0.2
    while not done(value := read()):
        if deadline is not None and time.monotonic() >= deadline:
            raise WaitTimeout(f"{what} was not finished in time. Try again later.")
        time.sleep(pause)
        pause = min(pause * 1.5, 2.0)
    return value
