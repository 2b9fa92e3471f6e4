"""The socket /ws/v1: subscribe, unsubscribe, ping. Who asks is found at the handshake, and again by rechecks."""

import asyncio
import json
import time
from collections.abc import Hashable
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from portal.live import topics
from portal.live.door import Closing, Door
from portal.live.frames import text_of
from portal.live.handshake import headers_of, knock_of, origin_is_ours, subprotocol_of
from portal.live.hub import Follow
from portal.live.process import hints_are_heard, hub, in_thread, reader, rechecks
from portal.live.rechecks import may_follow
from portal.live.watcher import TooSlow, Watcher
from portal.tenancy import Actor

HEARTBEAT_SECONDS = 10.0
MOST_TOPICS = 100
MESSAGE_BYTES = 64 * 1024
MESSAGES_A_SECOND, BURST = 20, 60

FOREIGN_ORIGIN, TOO_SLOW, MALFORMED, TOO_MANY, TOO_BIG = 4403, 4408, 4400, 4429, 1009


class LiveConsumer(AsyncWebsocketConsumer):
    """One socket of one tab, or of one program. `door` knows people; asgi.py supplies it."""

    def __init__(self, *, door: Door) -> None:
        super().__init__()
        self.door = door
        self.credential: Hashable = None

    async def connect(self) -> None:
        self.follows: dict[str, Follow] = {}
        self.tasks: list[asyncio.Task[None]] = []
        headers = headers_of(self.scope)
        knock = knock_of(self.scope, headers)
        if not origin_is_ours(headers, has_bearer=knock.bearer is not None):
            await self.close(FOREIGN_ORIGIN)
            return
        try:
            admission = await in_thread(lambda: self.door.admit(knock))
        except Closing as closing:
            # Accepted first, since only an open socket can say why it is closed.
            await self.accept(subprotocol_of(self.scope))
            await self.close(closing.code, closing.reason)
            return
        self.actor: Actor | None = admission.actor
        self.credential = admission.credential
        await self.accept(subprotocol_of(self.scope))
        await hints_are_heard()
        self.watcher = Watcher(lambda frame: self.send(text_data=frame))
        self.allowance, self.counted_at = float(BURST), time.monotonic()
        self.watcher.offer(text_of({"type": "hello", "server_time": timezone.now()}))
        self.tasks = [asyncio.ensure_future(work()) for work in (self._write, self._heartbeat)]
        if self.credential is not None:
            rechecks().add(self)

    async def disconnect(self, code: int) -> None:
        rechecks().remove(self)
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
        if found is None or not (await in_thread(lambda: may_follow(self.actor, [topic]))).get(topic):
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

    def following(self) -> list[str]:
        return list(self.follows)

    async def learn(self, verdict: Closing | tuple[Actor, dict[str, bool]]) -> None:
        """A sign-out, a revoked token or a lost role ends what it had opened."""
        if isinstance(verdict, Closing):
            rechecks().remove(self)
            await self.close(verdict.code, verdict.reason)
            return
        self.actor, allowed = verdict
        for topic in [name for name in self.follows if allowed.get(name) is False]:
            self._unsubscribe(topic)
            await self._refuse(topic, "not_found")

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
