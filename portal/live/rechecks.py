"""Checks again, all sockets of a web process in one go, whether they may stay open and follow what they follow."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from typing import Protocol

from portal import tenancy
from portal.live import topics
from portal.live.door import Closing, Door
from portal.tenancy import Actor

logger = logging.getLogger(__name__)
# What ends is closed within half a minute: a check may just have passed, and takes a moment itself.
RECHECK_SECONDS = 12.0
TICK_SECONDS = 0.25
InThread = Callable[[Callable[[], "Verdicts"]], Awaitable["Verdicts"]]
Verdicts = Mapping["Checked", "Closing | tuple[Actor, dict[str, bool]]"]


class Checked(Protocol):
    """A socket of somebody who is signed in."""

    door: Door
    credential: Hashable

    def following(self) -> list[str]:
        """Names of the topics that it follows."""

    async def learn(self, verdict: Closing | tuple[Actor, dict[str, bool]]) -> None:
        """Close, or take on the present reach and drop what is not allowed any more."""


class Rechecks:
    """The sockets of one event loop."""

    def __init__(self, in_thread: InThread) -> None:
        self._in_thread = in_thread
        self._sockets: set[Checked] = set()

    def add(self, socket: Checked) -> None:
        self._sockets.add(socket)

    def remove(self, socket: Checked) -> None:
        self._sockets.discard(socket)

    async def run(self) -> None:
        """For ever; a fault is logged, and everything is asked again the next time."""
        last = time.monotonic()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            if not self._sockets or time.monotonic() - last < RECHECK_SECONDS:
                continue
            last = time.monotonic()
            try:
                await self._round()
            except Exception:
                logger.exception("Sockets could not be checked again")

    async def _round(self) -> None:
        questions = {socket: socket.following() for socket in self._sockets}
        verdicts = await self._in_thread(lambda: judge(questions))
        await asyncio.gather(*(socket.learn(verdict) for socket, verdict in verdicts.items()), return_exceptions=True)


def judge(questions: Mapping[Checked, list[str]]) -> Verdicts:
    """One question for all credentials, then one tenancy for each reach, however many sockets have it."""
    by_door: dict[Door, list[Checked]] = defaultdict(list)
    for socket in questions:
        by_door[socket.door].append(socket)
    found: dict[Checked, Closing | tuple[Actor, dict[str, bool]]] = {}
    for door, sockets in by_door.items():
        outcomes = door.recheck({socket.credential for socket in sockets})
        for credential in {socket.credential for socket in sockets}:
            outcome = outcomes[credential]
            same = [socket for socket in sockets if socket.credential == credential]
            if isinstance(outcome, Closing):
                found |= dict.fromkeys(same, outcome)
                continue
            allowed = may_follow(outcome, sorted({name for socket in same for name in questions[socket]}))
            found |= dict.fromkeys(same, (outcome, allowed))
    return found


def may_follow(actor: Actor | None, names: list[str]) -> dict[str, bool]:
    """Whether the actor may follow each topic, asked in the actor's own tenancy."""
    if not names:
        return {}
    with tenancy.context(user_id=actor.user_id if actor else None, org_ids=actor.org_ids if actor else ()):
        return {
            name: kind.authorise(actor, identifier)
            for name in names
            if (found := topics.find(name))
            for kind, identifier in [found]
        }
