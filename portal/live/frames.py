"""Frames that go to browsers, as JSON text. Events are packed so that no frame grows beyond a bound."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

FRAME_BYTES = 128 * 1024


@dataclass(frozen=True, slots=True)
class EventFrame:
    """One frame of a topic's events, with the numbers of its first and last one."""

    first: int
    last: int
    text: str


def text_of(frame: dict[str, Any]) -> str:
    return json.dumps(frame, separators=(",", ":"), cls=DjangoJSONEncoder)


def event_frames(topic: str, events: Iterable[dict[str, Any]]) -> list[EventFrame]:
    """The events in as few frames as the bound allows, each serialised once for all who watch."""
    return [_pack(topic, seqs, texts) for seqs, texts in _bounded(events)]


def _bounded(events: Iterable[dict[str, Any]]) -> Iterator[tuple[list[int], list[str]]]:
    seqs: list[int] = []
    texts: list[str] = []
    size = 0
    for event in events:
        text = text_of(event)
        if texts and size + len(text) > FRAME_BYTES:
            yield seqs, texts
            seqs, texts, size = [], [], 0
        seqs.append(int(event["seq"]))
        texts.append(text)
        size += len(text)
    if texts:
        yield seqs, texts


def _pack(topic: str, seqs: list[int], texts: list[str]) -> EventFrame:
    body = f'{{"type":"events","topic":{json.dumps(topic)},"events":[{",".join(texts)}],"last_seq":{seqs[-1]}}}'
    return EventFrame(seqs[0], seqs[-1], body)


def caught_up(topic: str, last_seq: int) -> str:
    """Says that there is nothing newer than `last_seq` yet."""
    return text_of({"type": "events", "topic": topic, "events": [], "last_seq": last_seq})
