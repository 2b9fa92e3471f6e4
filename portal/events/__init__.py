"""Things that have happened, told after commit. Grep `publish(` for every event there is.

It delivers within this process; telling browsers is the business of portal.live, which subscribes here.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from portal.tenancy import on_commit

Topic = str
Subscriber = Callable[["Event"], None]
_subscribers: list[tuple[type["Event"], Subscriber]] = []


@dataclass(frozen=True, slots=True)
class Event:
    """Something that has happened, named in the past tense by its subclass."""

    def hints(self) -> Iterable[tuple[Topic, dict[str, Any]]]:
        """(topic, what) pairs for watchers of live pages: small facts, never a title or a name."""
        return ()


def subscribe(kind: type[Event], act: Subscriber) -> None:
    """Call `act` with each published event of `kind` (subclasses too), in the process that published it."""
    _subscribers.append((kind, act))


def publish(event: Event) -> None:
    """Tell subscribers once the transaction of the open context has committed, and never if it rolls back."""
    for kind, act in _subscribers:
        if isinstance(event, kind):
            on_commit(lambda act=act: act(event))  # type: ignore[misc]
