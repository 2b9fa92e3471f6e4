"""Length-prefixed JSON between the jail and its parent. What comes out of a jail is cleaned here, before it is used."""

from __future__ import annotations

import json
import os
import re
import struct
from typing import Any

MOST_FRAME_BYTES = 64 * 1024 * 1024
MOST_DEPTH = 64
_HEADER = struct.Struct(">I")
# PostgreSQL stores neither NUL nor half of a surrogate pair
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class FrameError(Exception):
    """The other side does not speak the protocol: too long, not JSON, not an object, or too deep."""


def encode(message: dict[str, Any]) -> bytes:
    """One message as bytes on the wire. Raises FrameError when it is too long to send."""
    body = json.dumps(message, separators=(",", ":")).encode()
    if len(body) > MOST_FRAME_BYTES:
        raise FrameError(f"a message of {len(body)} bytes is over the limit of {MOST_FRAME_BYTES}")
    return _HEADER.pack(len(body)) + body


def write(descriptor: int, message: dict[str, Any]) -> None:
    """Write the whole message, blocking."""
    view = memoryview(encode(message))
    while view:
        view = view[os.write(descriptor, view) :]


def read(descriptor: int) -> dict[str, Any] | None:
    """Read one message, blocking; None at the end of the stream."""
    header = _read_exactly(descriptor, _HEADER.size)
    if header is None:
        return None
    body = _read_exactly(descriptor, _length(header))
    return None if body is None else decode(body)


class Decoder:
    """Turns arriving bytes into messages, for a reader that must not block."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.received = 0

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Messages that are complete now. Raises FrameError at the first that is not one."""
        self._buffer += data
        self.received += len(data)
        messages = []
        while len(self._buffer) >= _HEADER.size:
            end = _HEADER.size + _length(bytes(self._buffer[: _HEADER.size]))
            if len(self._buffer) < end:
                break
            messages.append(decode(bytes(self._buffer[_HEADER.size : end])))
            del self._buffer[:end]
        return messages


def decode(body: bytes) -> dict[str, Any]:
    """One JSON object with storable strings; NaN and infinities become null."""
    try:
        message = json.loads(body, parse_constant=lambda name: None)
        if not isinstance(message, dict):
            raise FrameError("a message must be a JSON object")
        return {_storable(key): clean(value) for key, value in message.items()}
    except (ValueError, RecursionError) as error:
        raise FrameError(f"a message is not readable: {error!s:.200}") from error


def clean(value: Any, depth: int = 0) -> Any:
    """The same JSON value, with every string storable. Raises FrameError when nested too deeply."""
    if depth > MOST_DEPTH:
        raise FrameError(f"a message is nested over {MOST_DEPTH} levels deep")
    if isinstance(value, str):
        return _storable(value)
    if isinstance(value, list):
        return [clean(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_storable(key): clean(item, depth + 1) for key, item in value.items()}
    return value


def _storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def _length(header: bytes) -> int:
    (length,) = _HEADER.unpack(header)
    if length > MOST_FRAME_BYTES:
        raise FrameError(f"a message claims {length} bytes, over the limit of {MOST_FRAME_BYTES}")
    return int(length)


def _read_exactly(descriptor: int, count: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < count:
        part = os.read(descriptor, count - len(parts))
        if not part:
            return None
        parts += part
    return bytes(parts)
