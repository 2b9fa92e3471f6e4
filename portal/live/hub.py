"""The hub of one web process: hears hints, reads each topic's new rows once, and fans them out in coalesced frames.

Nobody loses an event: a watcher first reads history from its own cursor, joins the live ones only when it has caught
up with the hub, and falls back to reading history when its buffer is full. Hints are only a reason to look;
heartbeats look too.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from portal.live.frames import EventFrame, caught_up, event_frames, text_of
from portal.live.watcher import Watcher

logger = logging.getLogger(__name__)
# A frame at most every 100 ms: with 1,000 watchers of one job the cost is in frames, not in events.
WINDOW_SECONDS = 0.1
ROWS_A_READ = 200
DIFFERENT_HINTS = 20
Read = Callable[[int, int], Awaitable[list[dict[str, Any]]]]


@dataclass(eq=False)
class Follow:
    """One watcher's place in one topic. `cursor` is the last event put into its buffer."""

    watcher: Watcher
    topic: "Channel"
    cursor: int = 0
    is_live: bool = False
    catching_up: "asyncio.Task[None] | None" = None


@dataclass(eq=False)
class Channel:
    """A topic that somebody follows. With `read` it has rows and a cursor, without it hints are all there is."""

    name: str
    read: Read | None
    follows: set[Follow] = field(default_factory=set)
    cursor: int = 0
    hints: list[dict[str, Any]] = field(default_factory=list)


class Hub:
    """Lives on one event loop; its methods are called from there."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}
        self._dirty: set[Channel] = set()
        self._wake = asyncio.Event()

    def follow(self, watcher: Watcher, name: str, *, read: Read | None, after: int = 0) -> Follow:
        """Begin to deliver the topic to the watcher: events after `after`, or hints from now on."""
        channel = self._channels.setdefault(name, Channel(name, read))
        follow = Follow(watcher, channel, cursor=after)
        channel.follows.add(follow)
        if channel.read:
            self._catch_up(follow)
        else:
            follow.is_live = True
        return follow

    def unfollow(self, follow: Follow) -> None:
        """Deliver no more."""
        if follow.catching_up:
            follow.catching_up.cancel()
        follow.topic.follows.discard(follow)
        if not follow.topic.follows:
            self._channels.pop(follow.topic.name, None)
            self._dirty.discard(follow.topic)

    def hint(self, name: str, what: dict[str, Any]) -> None:
        """There is more in the topic. Costs a dictionary look-up when nobody follows it."""
        channel = self._channels.get(name)
        if channel is None:
            return
        if channel.read is None and what not in channel.hints:
            channel.hints = [*channel.hints[-DIFFERENT_HINTS:], what]
        self._mark(channel)

    def look_everywhere(self) -> None:
        """Hints may have been lost: read every topic with rows."""
        for channel in self._channels.values():
            if channel.read:
                self._mark(channel)

    def tell_everyone(self) -> None:
        """Hints have been lost: watchers of topics without rows ask again."""
        for name, channel in list(self._channels.items()):
            if channel.read is None:
                self.hint(name, {})
        self.look_everywhere()

    async def run(self) -> None:
        """Deliver for ever, at most once a window."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(WINDOW_SECONDS)
            self._wake.clear()
            dirty, self._dirty = self._dirty, set()
            await asyncio.gather(*(self._deliver_safely(channel) for channel in dirty))

    def _mark(self, channel: Channel) -> None:
        self._dirty.add(channel)
        self._wake.set()

    async def _deliver_safely(self, channel: Channel) -> None:
        try:
            await self._deliver(channel)
        except Exception:
            # The rows are still there: the next hint or heartbeat reads them.
            logger.exception("Delivering %s failed", channel.name)

    async def _deliver(self, channel: Channel) -> None:
        if channel.read is None:
            hints, channel.hints = channel.hints, []
            for what in hints:
                self._tell(channel, what)
            return
        if not any(follow.is_live for follow in channel.follows):
            return
        events = await channel.read(channel.cursor, ROWS_A_READ)
        if not events:
            return
        before, channel.cursor = channel.cursor, int(events[-1]["seq"])
        frames = event_frames(channel.name, events)
        for follow in [follow for follow in channel.follows if follow.is_live]:
            self._fan_out(follow, before, frames, events)
        if len(events) == ROWS_A_READ:
            self._mark(channel)

    def _tell(self, channel: Channel, what: dict[str, Any]) -> None:
        """Send a hint; a reader without room gets one `changed` for all it misses, as soon as there is room."""
        frame = text_of({"type": "changed", "topic": channel.name, "what": what})
        for follow in channel.follows:
            waiting = follow.catching_up is not None and not follow.catching_up.done()
            if not waiting and not follow.watcher.offer(frame):
                missed = text_of({"type": "changed", "topic": channel.name, "what": {}})
                follow.catching_up = asyncio.get_running_loop().create_task(follow.watcher.put(missed))

    def _fan_out(self, follow: Follow, before: int, frames: list[EventFrame], events: list[dict[str, Any]]) -> None:
        if follow.cursor != before:
            frames = event_frames(follow.topic.name, [row for row in events if row["seq"] > follow.cursor])
        for frame in frames:
            if not follow.watcher.offer(frame.text):
                follow.is_live = False
                self._catch_up(follow)
                return
            follow.cursor = frame.last

    def _catch_up(self, follow: Follow) -> None:
        follow.catching_up = asyncio.get_running_loop().create_task(self._read_history(follow))

    async def _read_history(self, follow: Follow) -> None:
        """Send what lies between the watcher's cursor and the hub's, at the reader's pace, then join the live ones."""
        channel = follow.topic
        assert channel.read is not None
        quiet = True
        while True:
            try:
                events = await channel.read(follow.cursor, ROWS_A_READ)
            except Exception:
                logger.exception("Reading %s failed", channel.name)
                await asyncio.sleep(1)
                continue
            for frame in event_frames(channel.name, events):
                await follow.watcher.put(frame.text)
                follow.cursor, quiet = frame.last, False
            # No await between looking at the hub's cursor and joining: no event can slip through in between.
            if len(events) < ROWS_A_READ and self._join(follow):
                break
        if quiet:
            await follow.watcher.put(caught_up(channel.name, follow.cursor))

    def _join(self, follow: Follow) -> bool:
        channel = follow.topic
        if not any(other.is_live for other in channel.follows):
            channel.cursor = follow.cursor
        if follow.cursor < channel.cursor:
            return False
        follow.is_live = True
        # A row may have come, and its hint gone, between the last read and now.
        self._mark(channel)
        return True
