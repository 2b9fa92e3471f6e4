"""The socket /ws/v1: subscribe, unsubscribe, ping. Who asks is found at the handshake and again every half minute."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from portal import tenancy
from portal.live import topics
from portal.live.frames import text_of
from portal.live.handshake import Headers, has_bearer, headers_of, origin_is_ours
from portal.live.hub import Follow
from portal.live.process import hints_are_heard, hub, in_thread, reader
from portal.live.watcher import TooSlow, Watcher
from portal.tenancy import Actor

Authenticate = Callable[[Headers], Actor | None]

HEARTBEAT_SECONDS = 10.0
RECHECK_SECONDS = 30.0
MOST_TOPICS = 100
MESSAGE_BYTES = 64 * 1024
MESSAGES_A_SECOND, BURST = 20, 60

UNAUTHENTICATED, FOREIGN_ORIGIN, TOO_SLOW, MALFORMED, TOO_MANY, TOO_BIG = 4401, 4403, 4408, 4400, 4429, 1009


class LiveConsumer(AsyncWebsocketConsumer):
    """One socket of one tab. `authenticate` turns the handshake's headers into an actor; asgi.py supplies it."""

    def __init__(self, *, authenticate: Authenticate) -> None:
        super().__init__()
        self.authenticate = authenticate

    async def connect(self) -> None:
        self.headers = headers_of(self.scope)
        self.follows: dict[str, Follow] = {}
        self.tasks: list[asyncio.Task[None]] = []
        if not origin_is_ours(self.headers):
            await self.close(FOREIGN_ORIGIN)
            return
        self.actor = await self._who()
        await self.accept()
        if self.actor is None and has_bearer(self.headers):
            await self.close(UNAUTHENTICATED)
            return
        await hints_are_heard()
        self.watcher = Watcher(lambda frame: self.send(text_data=frame))
        self.allowance, self.counted_at = float(BURST), time.monotonic()
        self.watcher.offer(text_of({"type": "hello", "server_time": timezone.now()}))
        self.tasks = [asyncio.ensure_future(work()) for work in (self._write, self._heartbeat, self._recheck)]

    async def disconnect(self, code: int) -> None:
        for follow in self.follows.values():
            hub().unfollow(follow)
        self.follows.clear()
        for task in self.tasks:
            task.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """One message of the client. Nonsense ends the connection with a code that says why."""
        if self._too_many():
            await self.close(TOO_MANY)
        elif text_data is None:
            await self.close(MALFORMED)
        elif len(text_data) > MESSAGE_BYTES:
            await self.close(TOO_BIG)
        elif (message := _parsed(text_data)) is None:
            await self.close(MALFORMED)
        else:
            await self._obey(message)

    async def _obey(self, message: dict[str, Any]) -> None:
        kind, topic = message.get("type"), message.get("topic")
        if kind == "ping":
            await self.watcher.put(text_of({"type": "pong"}))
        elif kind == "subscribe" and isinstance(topic, str):
            await self._subscribe(topic, message.get("after", 0))
        elif kind == "unsubscribe" and isinstance(topic, str):
            self._unsubscribe(topic)
        else:
            await self.close(MALFORMED)

    async def _subscribe(self, topic: str, after: Any) -> None:
        if not isinstance(after, int) or isinstance(after, bool) or not 0 <= after < 2**62:
            await self.close(MALFORMED)
            return
        # Asking again begins again at the given cursor.
        self._unsubscribe(topic)
        if len(self.follows) >= MOST_TOPICS:
            await self._refuse(topic, "too_many_topics")
            return
        found = topics.find(topic)
        if found is None or not (await self._allowed([topic], self.actor)).get(topic):
            await self._refuse(topic, "not_found")
            return
        kind, identifier = found
        self.follows[topic] = hub().follow(self.watcher, topic, read=reader(kind, identifier), after=after)

    def _unsubscribe(self, topic: str) -> None:
        follow = self.follows.pop(topic, None)
        if follow:
            hub().unfollow(follow)

    async def _refuse(self, topic: str, code: str) -> None:
        await self.watcher.put(text_of({"type": "refused", "topic": topic[:200], "code": code}))

    async def _write(self) -> None:
        try:
            await self.watcher.write()
        except TooSlow:
            await self.close(TOO_SLOW)
        except OSError:
            # The other side is gone; the server says so next, and `disconnect` tidies up.
            return

    async def _heartbeat(self) -> None:
        """Tells how far each topic was sent, so that a client notices a gap; looks for rows whose hint was lost."""
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            hub().look_everywhere()
            sent = {name: follow.cursor for name, follow in self.follows.items() if follow.topic.read}
            await self.watcher.put(text_of({"type": "heartbeat", "topics": sent}))

    async def _recheck(self) -> None:
        """A sign-out, a revoked token or a lost role ends what it had opened."""
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            was_known = self.actor is not None
            self.actor = await self._who()
            if was_known and self.actor is None:
                await self.close(UNAUTHENTICATED)
                return
            allowed = await self._allowed(list(self.follows), self.actor)
            for topic in [name for name in self.follows if allowed.get(name) is False]:
                self._unsubscribe(topic)
                await self._refuse(topic, "not_found")

    async def _who(self) -> Actor | None:
        return await in_thread(lambda: self.authenticate(self.headers))

    async def _allowed(self, names: list[str], actor: Actor | None) -> dict[str, bool]:
        """Whether the actor may follow each topic, asked in the actor's own tenancy."""

        def ask() -> dict[str, bool]:
            with tenancy.context(user_id=actor.user_id if actor else None, org_ids=actor.org_ids if actor else ()):
                return {
                    name: kind.authorise(actor, identifier)
                    for name in names
                    if (found := topics.find(name))
                    for kind, identifier in [found]
                }

        return await in_thread(ask)

    def _too_many(self) -> bool:
        """A bucket of messages that fills at a steady rate."""
        now = time.monotonic()
        self.allowance = min(BURST, self.allowance + (now - self.counted_at) * MESSAGES_A_SECOND) - 1
        self.counted_at = now
        return self.allowance < 0


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
