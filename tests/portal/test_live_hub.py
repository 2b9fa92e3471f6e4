"""The hub: whatever the timing, every watcher gets every event once and in order, and a slow one harms itself alone."""

import asyncio
import json
import random

import pytest

from portal.live.frames import FRAME_BYTES, event_frames
from portal.live.hub import Hub
from portal.live.watcher import BUFFERED_FRAMES, Watcher

TOPIC = "job:1"


class Log:
    """A topic's rows, as a table would give them."""

    def __init__(self) -> None:
        self.rows: list[dict] = []
        self.reads = 0

    def append(self, count: int = 1, size: int = 10) -> None:
        for _ in range(count):
            self.rows.append({"seq": len(self.rows) + 1, "kind": "log", "data": {"text": "x" * size}})

    async def read(self, after: int, limit: int) -> list[dict]:
        self.reads += 1
        await asyncio.sleep(random.random() / 200)
        return self.rows[after : after + limit]


class Reader:
    """The far end of a socket."""

    def __init__(self, delay: float = 0.0) -> None:
        self.frames: list[dict] = []
        self.delay = delay
        self.watcher = Watcher(self._take)
        self.writing = asyncio.ensure_future(self.watcher.write())

    async def _take(self, frame: str) -> None:
        await asyncio.sleep(self.delay)
        self.frames.append(json.loads(frame))

    @property
    def seqs(self) -> list[int]:
        return [event["seq"] for frame in self.frames if frame["type"] == "events" for event in frame["events"]]

    def stop(self) -> None:
        self.writing.cancel()


async def until(condition, seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for is the outside of the hub
            await asyncio.sleep(0.01)


@pytest.fixture
def run():
    """Runs a scenario with a hub of its own."""

    def go(scenario) -> None:
        async def main() -> None:
            hub = Hub()
            pump = asyncio.ensure_future(hub.run())
            try:
                await scenario(hub)
            finally:
                pump.cancel()

        asyncio.run(main())

    return go


def test_history_first_then_live(run):
    async def scenario(hub: Hub) -> None:
        log, reader = Log(), Reader()
        log.append(450)
        hub.follow(reader.watcher, TOPIC, read=log.read)
        await until(lambda: len(reader.seqs) == 450)
        log.append(5)
        hub.hint(TOPIC, {})
        await until(lambda: len(reader.seqs) == 455)
        assert reader.seqs == list(range(1, 456))

    run(scenario)


def test_a_cursor_resumes_without_gap_or_repetition(run):
    async def scenario(hub: Hub) -> None:
        log, reader = Log(), Reader()
        log.append(100)
        hub.follow(reader.watcher, TOPIC, read=log.read, after=60)
        await until(lambda: len(reader.seqs) == 40)
        assert reader.seqs == list(range(61, 101))

    run(scenario)


def test_a_topic_without_news_says_so(run):
    async def scenario(hub: Hub) -> None:
        reader = Reader()
        hub.follow(reader.watcher, TOPIC, read=Log().read, after=7)
        await until(lambda: bool(reader.frames))
        assert reader.frames == [{"type": "events", "topic": TOPIC, "events": [], "last_seq": 7}]

    run(scenario)


def test_nothing_is_lost_when_watchers_join_while_rows_come(run):
    """Rows, hints and watchers at random moments; some hints are lost, and a heartbeat makes up for them."""

    async def scenario(hub: Hub) -> None:
        random.seed(7)
        log, readers = Log(), []
        for _ in range(120):
            log.append(random.randint(0, 6))
            if random.random() < 0.5:
                hub.hint(TOPIC, {})
            if random.random() < 0.15:
                reader = Reader(delay=random.choice([0, 0, 0.002]))
                reader.after = random.randint(0, len(log.rows))
                hub.follow(reader.watcher, TOPIC, read=log.read, after=reader.after)
                readers.append(reader)
            await asyncio.sleep(random.random() / 50)
        hub.look_everywhere()
        assert len(readers) > 8
        await until(lambda: all(len(reader.seqs) >= len(log.rows) - reader.after for reader in readers))
        for reader in readers:
            assert reader.seqs == list(range(reader.after + 1, len(log.rows) + 1))

    run(scenario)


def test_a_row_is_read_once_for_all_watchers(run):
    async def scenario(hub: Hub) -> None:
        log = Log()
        readers = [Reader() for _ in range(50)]
        for reader in readers:
            hub.follow(reader.watcher, TOPIC, read=log.read)
        await until(lambda: all(reader.frames for reader in readers))
        await asyncio.sleep(0.3)
        before = log.reads
        log.append(10)
        for _ in range(10):
            hub.hint(TOPIC, {})
        await until(lambda: all(len(reader.seqs) == 10 for reader in readers))
        assert log.reads - before == 1

    run(scenario)


def test_bursts_are_coalesced(run):
    async def scenario(hub: Hub) -> None:
        log, reader = Log(), Reader()
        hub.follow(reader.watcher, TOPIC, read=log.read)
        await until(lambda: bool(reader.frames))
        for _ in range(100):
            log.append()
            hub.hint(TOPIC, {})
            await asyncio.sleep(0.01)
        await until(lambda: len(reader.seqs) == 100)
        assert len(reader.frames) <= 16

    run(scenario)


def test_a_slow_reader_keeps_no_one_waiting_and_still_gets_all(run):
    async def scenario(hub: Hub) -> None:
        log, slow, quick = Log(), Reader(delay=0.05), Reader()
        for reader in (slow, quick):
            hub.follow(reader.watcher, TOPIC, read=log.read)
        await until(lambda: bool(slow.frames and quick.frames))
        for _ in range(60):
            log.append(1, size=FRAME_BYTES)
            hub.hint(TOPIC, {})
        hub.look_everywhere()
        await until(lambda: len(quick.seqs) == 60, 15)
        assert len(slow.seqs) < 60
        assert slow.watcher._frames.qsize() <= BUFFERED_FRAMES
        await until(lambda: len(slow.seqs) == 60, 30)
        assert slow.seqs == quick.seqs == list(range(1, 61))

    run(scenario)


def test_a_failing_read_is_made_up_for(run):
    async def scenario(hub: Hub) -> None:
        log, reader = Log(), Reader()
        broken = False

        async def read(after: int, limit: int) -> list[dict]:
            if broken:
                raise ConnectionError
            return await log.read(after, limit)

        hub.follow(reader.watcher, TOPIC, read=read)
        await until(lambda: bool(reader.frames))
        broken = True
        log.append(3)
        hub.hint(TOPIC, {})
        await asyncio.sleep(0.4)
        broken = False
        hub.look_everywhere()
        await until(lambda: reader.seqs == [1, 2, 3])

    run(scenario)


def test_hints_reach_followers_alone_and_equal_ones_once(run):
    async def scenario(hub: Hub) -> None:
        mine, other = Reader(), Reader()
        hub.follow(mine.watcher, "project:a", read=None)
        hub.follow(other.watcher, "project:b", read=None)
        for _ in range(5):
            hub.hint("project:a", {"kind": "job", "id": "1", "state": "running"})
        hub.hint("project:a", {"kind": "job", "id": "1", "state": "succeeded"})
        await until(lambda: len(mine.frames) == 2)
        await asyncio.sleep(0.3)
        assert [frame["what"]["state"] for frame in mine.frames] == ["running", "succeeded"]
        assert other.frames == []

    run(scenario)


def test_after_an_outage_everyone_is_told_to_look(run):
    async def scenario(hub: Hub) -> None:
        log, rows, hints = Log(), Reader(), Reader()
        hub.follow(rows.watcher, TOPIC, read=log.read)
        hub.follow(hints.watcher, "project:a", read=None)
        await until(lambda: bool(rows.frames))
        log.append(2)
        hub.tell_everyone()
        await until(lambda: rows.seqs == [1, 2] and len(hints.frames) == 1)
        assert hints.frames == [{"type": "changed", "topic": "project:a", "what": {}}]

    run(scenario)


def test_unfollowing_ends_delivery(run):
    async def scenario(hub: Hub) -> None:
        log, reader = Log(), Reader()
        follow = hub.follow(reader.watcher, TOPIC, read=log.read)
        await until(lambda: bool(reader.frames))
        hub.unfollow(follow)
        log.append()
        hub.hint(TOPIC, {})
        await asyncio.sleep(0.3)
        assert reader.seqs == []

    run(scenario)


def test_frames_are_bounded_and_whole():
    events = [{"seq": n, "kind": "log", "data": {"text": "y" * 15_000}} for n in range(1, 41)]
    frames = event_frames(TOPIC, events)
    assert len(frames) > 1
    assert all(len(frame.text) < FRAME_BYTES + 1000 for frame in frames)
    assert [event for frame in frames for event in json.loads(frame.text)["events"]] == events
    assert [json.loads(frame.text)["last_seq"] for frame in frames] == [frame.last for frame in frames]
