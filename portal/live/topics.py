"""Kinds of topics that can be followed, as the apps register them. A topic is written kind:id."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from portal.tenancy import Actor

Authorise = Callable[[Actor | None, str], bool]
Read = Callable[[str, int, int], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Topic:
    """`authorise(actor or None, id)` runs in the actor's tenancy context. `read(id, after, limit)` runs in a system
    context and returns events with a growing `seq`; without it a topic only says that something changed.
    """

    authorise: Authorise
    read: Read | None = None


_kinds: dict[str, Topic] = {}


def register_topic(kind: str, *, authorise: Authorise, read: Read | None = None) -> None:
    """Let sockets follow `kind:<id>`."""
    _kinds[kind] = Topic(authorise, read)


def find(topic: str) -> tuple[Topic, str] | None:
    """The kind's entry and the id, or None for a topic that nobody registered."""
    kind, _, identifier = topic.partition(":")
    registered = _kinds.get(kind)
    return (registered, identifier) if registered and 0 < len(identifier) <= 80 else None


def kinds() -> tuple[str, ...]:
    """Every registered kind; the stranger test walks them."""
    return tuple(sorted(_kinds))
