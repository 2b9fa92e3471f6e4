"""Shapes of what the API answers, as far as the client reads them. The OpenAPI schema describes all."""

from typing import Any, NotRequired, TypedDict

TERMINAL_STATES = frozenset({"succeeded", "failed", "cancelled", "timed_out"})


class Event(TypedDict):
    """One stored event of a job. `seq` counts from 1 without gaps."""

    seq: int
    kind: str
    attempt: int
    time: str
    data: dict[str, Any]


class Model(TypedDict):
    """An uploaded model. `state` is inspecting, accepted or refused."""

    id: str
    project_id: str
    name: str
    sha256: str
    bytes: int
    state: str
    summary: dict[str, Any] | None
    refusal: dict[str, Any] | None
    created_at: str


class End(TypedDict):
    """Why a job ended. `fault` is user, platform, limit or none."""

    code: str
    message: str
    fault: str
    params: dict[str, Any]


class Job(TypedDict):
    """A request to train or infer. Times of `result` are in simulated seconds."""

    id: str
    number: int
    name: str
    project_id: str
    model: dict[str, Any]
    task: str
    config: dict[str, Any]
    system: str
    ipus: int
    reservation_id: str | None
    suite: str | None
    state: str
    end: End | None
    result: dict[str, Any] | None
    attempt: int
    last_seq: int
    price: dict[str, int]
    created_at: str
    started_at: str | None
    ended_at: str | None


class System(TypedDict):
    """A simulated IPU system, such as pod16."""

    id: str
    name: str
    chip: str
    ipus: int
    tiles_per_ipu: int
    bytes_per_tile: int
    allowed_sizes: list[int]
    microcredits_per_ipu_hour: int


class Reservation(TypedDict):
    """A slice of a pod for a time window."""

    id: str
    project_id: str
    pod: dict[str, Any]
    ipu_start: int
    ipus: int
    starts_at: str
    ends_at: str
    state: str
    price_microcredits: int


class Upload(TypedDict):
    """A resumable upload: `received` of `size` bytes are stored, parts hold at most `part_bytes`."""

    id: str
    size: int
    received: int
    part_bytes: int
    expires_at: NotRequired[str]
