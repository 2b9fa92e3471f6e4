"""The hub of this web process and what feeds it: a subscription to Valkey, and threads for the database."""

import asyncio
import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import redis.asyncio
from django.conf import settings
from django.db import connections
from redis.exceptions import RedisError

from portal import tenancy
from portal.live.hints import CHANNEL
from portal.live.hub import Hub, Read
from portal.live.rechecks import Rechecks
from portal.live.topics import Topic

logger = logging.getLogger(__name__)
T = TypeVar("T")
_threads = ThreadPoolExecutor(4, thread_name_prefix="live")
PATIENCE_SECONDS = 1.0


@dataclass(frozen=True)
class Running:
    """A hub with its tasks; `listening` is set once hints are heard for the first time."""

    hub: Hub
    rechecks: Rechecks
    listening: asyncio.Event
    tasks: "tuple[asyncio.Task[None], ...]"


_running: dict[asyncio.AbstractEventLoop, Running] = {}


def hub() -> Hub:
    """The hub of the running loop, started when first asked for."""
    return _here().hub


def rechecks() -> Rechecks:
    """What checks the sockets of the running loop again."""
    return _here().rechecks


async def hints_are_heard() -> None:
    """Wait until the hub hears hints; not for long, since without Valkey heartbeats still look."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await _here().listening.wait()


def _here() -> Running:
    loop = asyncio.get_running_loop()
    if loop not in _running:
        for old in [known for known in _running if known.is_closed()]:
            del _running[old]
        made, checks, listening = Hub(), Rechecks(in_thread), asyncio.Event()
        tasks = tuple(loop.create_task(work) for work in (made.run(), checks.run(), _listen(made, listening)))
        _running[loop] = Running(made, checks, listening, tasks)
    return _running[loop]


async def in_thread(ask: Callable[[], T]) -> T:
    """Run a question to the database in one of a few threads, and give its connections back."""

    def run() -> T:
        try:
            return ask()
        finally:
            connections.close_all()

    return await asyncio.get_running_loop().run_in_executor(_threads, run)


def reader(topic: Topic, identifier: str) -> Read | None:
    """How the hub reads the rows of a topic, or None when it has none."""
    read = topic.read
    if read is None:
        return None

    def ask(after: int, limit: int) -> list[dict[str, Any]]:
        with tenancy.context(role="system"):
            return read(identifier, after, limit)

    async def ask_in_thread(after: int, limit: int) -> list[dict[str, Any]]:
        return await in_thread(lambda: ask(after, limit))

    return ask_in_thread


async def _listen(hub: Hub, listening: asyncio.Event) -> None:
    """Hear hints for ever; after Valkey was away everybody is told to look."""
    delay = 0.2
    while True:
        try:
            client = redis.asyncio.Redis.from_url(
                settings.REDIS_URL, socket_connect_timeout=2, health_check_interval=15
            )
            async with client, client.pubsub() as channel:
                await channel.subscribe(CHANNEL)
                listening.set()
                hub.tell_everyone()
                delay = 0.2
                async for message in channel.listen():
                    if message["type"] == "message":
                        _pass_on(hub, message["data"])
        except (RedisError, OSError) as error:
            logger.warning("Hints are not heard, trying again in %.1f s: %s", delay, error)
        await asyncio.sleep(delay)
        delay = min(delay * 2, 5.0)


def _pass_on(hub: Hub, data: bytes) -> None:
    try:
        hint = json.loads(data)
        hub.hint(str(hint["topic"]), dict(hint["what"]))
    except (ValueError, KeyError, TypeError):
        logger.warning("A hint was not understood")
