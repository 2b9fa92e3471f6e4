"""Uploads in parts over a network that drops connections: the file arrives whole, and every byte is in its place."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from podium_client import Client, PodiumError
from tests.client.wire import DROP, Request, problem, serve

PART = 1000


class Store:
    """What a portal does with parts, with faults on demand: `faults[n]` is the answer to the n-th part."""

    def __init__(self, faults: dict[int, Any] | None = None, known: list[dict[str, Any]] | None = None) -> None:
        self.content = b""
        self.size = 0
        self.parts = 0
        self.faults = faults or {}
        self.known = known or []

    def __call__(self, request: Request) -> Any:
        if request.path.startswith("/api/v1/models"):
            return 200, {"results": self.known, "next": None}
        if request.method == "POST" and request.path.endswith("/complete"):
            digest = hashlib.sha256(self.content).hexdigest()
            return 201, {"id": "m1", "sha256": digest, "state": "inspecting"}
        if request.method == "POST":
            self.size = json.loads(request.body)["size"]
        if request.method == "PUT":
            return self.part(request)
        return (
            201 if request.method == "POST" else 200,
            {"id": "u1", "size": self.size, "received": len(self.content), "part_bytes": PART},
        )

    def part(self, request: Request) -> Any:
        self.parts += 1
        fault, kept = self.faults.get(self.parts, (None, True))
        if kept and int(request.headers["upload-offset"]) != len(self.content):
            return 409, problem("upload.offset", params={"received": len(self.content)})
        if kept:
            self.content += request.body
        return fault or (200, {"received": len(self.content)})


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(bytes(range(256)) * 14)
    return path


def test_a_file_arrives_in_parts(model_file: Path) -> None:
    store, sent = Store(), []
    with serve(store) as wire, Client(url=wire.url, token="pod_x") as client:
        client.upload(model_file, on_progress=lambda done, size: sent.append((done, size)))
    assert store.content == model_file.read_bytes()
    assert sent == [(1000, 3584), (2000, 3584), (3000, 3584), (3584, 3584)]


@pytest.mark.parametrize("kept", [True, False], ids=["the part had arrived", "the part was lost"])
def test_a_dropped_connection_goes_on_where_the_server_stands(model_file: Path, kept: bool) -> None:
    store = Store({2: (DROP, kept)})
    with serve(store) as wire, Client(url=wire.url, token="pod_x") as client:
        client.upload(model_file)
    assert store.content == model_file.read_bytes()


def test_a_refused_part_is_not_repeated(model_file: Path) -> None:
    store = Store({1: ((413, problem("upload.too_large")), False)})
    with serve(store) as wire, Client(url=wire.url, token="pod_x") as client, pytest.raises(PodiumError, match="No"):
        client.upload(model_file)
    assert store.parts == 1


def test_an_accepted_model_with_the_same_bytes_is_used_again(model_file: Path) -> None:
    digest = hashlib.sha256(model_file.read_bytes()).hexdigest()
    store = Store(
        known=[
            {"id": "m0", "sha256": "other", "state": "accepted"},
            {"id": "m7", "sha256": digest, "state": "accepted"},
        ]
    )
    with serve(store) as wire, Client(url=wire.url, token="pod_x") as client:
        assert client.upload(model_file)["id"] == "m7"
        assert {request.method for request in wire.seen} == {"GET"}


def test_a_refused_model_is_sent_again_for_a_newer_engine_may_take_it(model_file: Path) -> None:
    digest = hashlib.sha256(model_file.read_bytes()).hexdigest()
    store = Store(known=[{"id": "m7", "sha256": digest, "state": "refused"}])
    with serve(store) as wire, Client(url=wire.url, token="pod_x") as client:
        assert client.upload(model_file)["id"] == "m1"


def test_a_missing_file_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    with serve(Store()) as wire, Client(url=wire.url, token="pod_x") as client:
        with pytest.raises(PodiumError, match="There is no file"):
            client.upload(tmp_path / "absent.onnx")
        assert wire.seen == []
