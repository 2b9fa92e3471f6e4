"""One socket's buffered way out: bounded, so that a slow reader costs itself alone."""

import asyncio
from collections.abc import Awaitable, Callable

BUFFERED_FRAMES = 32
SLOWEST_SEND_SECONDS = 30.0


class TooSlow(Exception):
    """The other side takes frames too slowly, or not at all."""


class Watcher:
    """Frames leave in the order in which they were put."""

    def __init__(self, send: Callable[[str], Awaitable[None]]) -> None:
        self._send = send
        self._frames: asyncio.Queue[str] = asyncio.Queue(BUFFERED_FRAMES)

    def offer(self, frame: str) -> bool:
        """Put without waiting; False when the buffer is full."""
        try:
            self._frames.put_nowait(frame)
        except asyncio.QueueFull:
            return False
        return True

    async def put(self, frame: str) -> None:
        """Put, waiting for room: whoever reads history goes no faster than its reader."""
        await self._frames.put(frame)

    async def write(self) -> None:
        """Send frames for ever; raises `TooSlow`."""
        while True:
            frame = await self._frames.get()
            try:
                # Not wait_for, which in Python 3.11 may swallow the cancellation that ends this task.
                async with asyncio.timeout(SLOWEST_SEND_SECONDS):
                    await self._send(frame)
            except TimeoutError as error:
                raise TooSlow from error
