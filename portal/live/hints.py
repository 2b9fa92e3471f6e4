"""Says "there is more" to every web process, over one Valkey channel. A hint may be lost: heartbeats look too.

Plain PUBLISH rather than a channel layer's group_send, which would open an event loop and a connection for each hint
sent by a synchronous worker; each web process holds one subscription (portal.live.hub).
"""

import functools
import json
import logging
from typing import Any

import redis
from django.conf import settings

from portal.events import Event, subscribe
from portal.tenancy import on_commit

logger = logging.getLogger(__name__)
CHANNEL = "podium:hints"


def hint(topic: str, what: dict[str, Any] | None = None) -> None:
    """Tell watchers of `topic`, after commit, that there is something new; `what` is small and names nobody."""
    on_commit(lambda: _send(topic, what or {}))


def listen() -> None:
    """Turn each published event's own hints into messages."""
    subscribe(Event, _send_hints)


def _send_hints(event: Event) -> None:
    for topic, what in event.hints():
        _send(topic, what)


def _send(topic: str, what: dict[str, Any]) -> None:
    try:
        _client().publish(CHANNEL, json.dumps({"topic": topic, "what": what}, separators=(",", ":"), default=str))
    except redis.RedisError as error:
        logger.warning("A hint for %s was lost: %s", topic, error)


@functools.cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=1)
