"""Bytes to a ModelProto, with everything that can be wrong with the bytes told apart. The graph is for ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from simulator.errors import SimulatorError
from simulator.frontends.limits import Limits
from simulator.frontends.sniff import refuse_unless_plausible

# the smallest field of a model is two bytes; fields of ModelProto end at 25
KNOWN_FIELDS = frozenset({1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25, 26})


def parse(path: Path, limits: Limits) -> Any:
    """A ModelProto with a graph. Raises ``model.not_onnx``, ``model.truncated``, ``model.no_graph`` and the like."""
    refuse_unless_plausible(path, limits)
    return parse_bytes(path.read_bytes())


def parse_bytes(data: bytes) -> Any:
    """As ``parse``, for bytes that are ours or already measured."""
    _check_frames(data)
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except (DecodeError, ValueError, RecursionError) as error:
        raise _damaged(str(error)) from error
    if not model.HasField("graph"):
        raise SimulatorError("model.no_graph", "The file has no graph: it is not a whole ONNX model. Export it again.")
    return model


def _check_frames(data: bytes) -> None:
    """Walk the outermost fields: each must be one a model has and lie inside the file. Rejects garbage at the end."""
    position, size = 0, len(data)
    while position < size:
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if number not in KNOWN_FIELDS:
            raise _damaged(f"unknown field {number} at byte {position}")
        if wire == 0:
            _, position = _varint(data, position)
        elif wire == 2:
            length, position = _varint(data, position)
            if length > size - position:
                raise _damaged(f"a field claims {length} bytes where {size - position} are left")
            position += length
        else:
            raise _damaged(f"wire type {wire} at byte {position}")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for index in range(10):
        if position + index >= len(data):
            raise _damaged("it ends in the middle of a number")
        byte = data[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, position + index + 1
    raise _damaged("a number has no end")


def _damaged(detail: str) -> SimulatorError:
    return SimulatorError(
        "model.damaged",
        f"This is not a whole ONNX model ({detail[:200]}). Check that the transfer was complete, or export it again.",
        params={"detail": detail[:200]},
    )
