"""Uploads that survive broken connections, and models from inspection to deletion."""

import hashlib
import os
from datetime import timedelta

import pytest
from django.utils import timezone

from portal import storage
from portal.registry import services, uploads
from portal.registry.models import Model, Upload
from portal.tenancy import Role

CONTENT = os.urandom(3000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
SUMMARY = {"format": "onnx", "parameters": 7, "trainable": True}


def begin(client, **changes):
    body = {"name": "net.onnx", "size": len(CONTENT), **changes}
    return client.post("/api/v1/uploads", body, content_type="application/json")


def put(client, upload_id, content, offset):
    return client.put(
        f"/api/v1/uploads/{upload_id}", content, "application/octet-stream", headers={"Upload-Offset": str(offset)}
    )


def complete(client, upload_id):
    return client.post(f"/api/v1/uploads/{upload_id}/complete")


def upload(client, content=CONTENT, **changes) -> dict:
    row = begin(client, size=len(content), **changes).json()
    put(client, row["id"], content, 0)
    return complete(client, row["id"]).json()


def test_a_file_arrives_in_parts(person):
    client = person.browser()
    row = begin(client, sha256=SHA256).json()
    assert (row["received"], row["size"], row["part_bytes"]) == (0, 3000, 8 * 1024 * 1024)
    assert put(client, row["id"], CONTENT[:1000], 0).json() == {"received": 1000}
    assert client.get(f"/api/v1/uploads/{row['id']}").json()["received"] == 1000
    assert put(client, row["id"], CONTENT[1000:], 1000).json() == {"received": 3000}
    made = complete(client, row["id"])
    model = made.json()
    assert made.status_code == 201
    assert (model["sha256"], model["bytes"], model["state"]) == (SHA256, 3000, "inspecting")
    assert (model["created_by"]["id"], model["project_id"]) == (str(person.user.id), str(person.project_id))
    with storage.open(SHA256) as stored:
        assert stored.read() == CONTENT
    assert not (storage.uploads_folder() / row["id"]).exists()


def test_a_part_at_the_wrong_place_is_told_the_right_one(person):
    client = person.browser()
    row = begin(client).json()
    put(client, row["id"], CONTENT[:1000], 0)
    for offset in (0, 999, 2000):
        refused = put(client, row["id"], CONTENT[offset:], offset)
        assert (refused.status_code, refused.json()["code"]) == (409, "upload.wrong_offset")
        assert refused.json()["params"] == {"received": 1000}


def test_a_part_without_an_offset_or_too_large_is_refused(person):
    client = person.browser()
    row = begin(client, size=20 * 1024**2).json()
    path = f"/api/v1/uploads/{row['id']}"
    assert client.put(path, b"x", "application/octet-stream").json()["code"] == "upload.offset_missing"
    large = put(client, row["id"], b"0" * (8 * 1024**2 + 1), 0)
    assert (large.status_code, large.json()["code"]) == (413, "upload.part_too_large")


def test_more_bytes_than_announced_are_refused_and_none_kept(person):
    client = person.browser()
    row = begin(client, size=10).json()
    refused = put(client, row["id"], b"x" * 11, 0)
    assert (refused.status_code, refused.json()["code"]) == (422, "upload.beyond_size")
    assert put(client, row["id"], b"x" * 10, 0).json() == {"received": 10}


def test_an_unfinished_upload_cannot_be_completed(person):
    client = person.browser()
    row = begin(client).json()
    put(client, row["id"], CONTENT[:10], 0)
    refused = complete(client, row["id"])
    assert (refused.status_code, refused.json()["code"]) == (409, "upload.incomplete")
    assert refused.json()["params"] == {"received": 10, "size": 3000}


def test_a_damaged_file_is_refused(person):
    client = person.browser()
    row = begin(client, sha256="0" * 64).json()
    put(client, row["id"], CONTENT, 0)
    refused = complete(client, row["id"])
    assert (refused.status_code, refused.json()["code"]) == (422, "upload.damaged")
    with person.opened():
        assert not Model.objects.filter(org_id=person.org_id).exists()


def test_completing_twice_gives_the_same_model(person):
    client = person.browser()
    row = begin(client).json()
    put(client, row["id"], CONTENT, 0)
    assert complete(client, row["id"]).json()["id"] == complete(client, row["id"]).json()["id"]
    assert put(client, row["id"], b"", 3000).json()["code"] == "upload.completed"


def test_the_same_bytes_twice_are_two_models_and_one_blob(person, stranger):
    first, second = upload(person.browser()), upload(stranger.browser())
    assert first["sha256"] == second["sha256"]
    assert first["id"] != second["id"]


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"size": 0}, 422, "model.empty_file"),
        ({"size": -5}, 422, "request.invalid"),
        ({"size": 2 * 1024**3 + 1}, 413, "upload.too_large"),
        ({"name": ""}, 422, "request.invalid"),
        ({"name": ".."}, 422, "request.invalid"),
        ({"sha256": "abc"}, 422, "request.invalid"),
        ({"project_id": "018f0000-0000-7000-8000-000000000000"}, 404, "not_found"),
    ],
)
def test_uploads_that_cannot_begin(person, changes, status, code):
    refused = begin(person.browser(), **changes)
    assert (refused.status_code, refused.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..\\..\\boot.ini", "/abs/passwd", "a\x01b/pass\nwd", "%2e%2e%2fpasswd"]
)
def test_names_never_become_paths(person, name):
    model = upload(person.browser(), name=name)
    assert "/" not in model["name"]
    assert "\\" not in model["name"]
    assert not any(ord(letter) < 32 for letter in model["name"])


@pytest.mark.parametrize("sha256", ["../../x", "A" * 64, "0" * 63, "0" * 62 + "/.", ""])
def test_a_blob_is_named_by_a_hash_alone(sha256):
    with pytest.raises(ValueError, match="64 hexadecimal"):
        storage.path(sha256)


def test_strangers_find_neither_upload_nor_model(person, stranger):
    row = begin(person.browser()).json()
    model = upload(person.browser())
    client = stranger.browser()
    answers = [
        client.get(f"/api/v1/uploads/{row['id']}"),
        put(client, row["id"], CONTENT, 0),
        complete(client, row["id"]),
        client.get(f"/api/v1/models/{model['id']}"),
        client.get(f"/api/v1/models/{model['id']}/file"),
        client.delete(f"/api/v1/models/{model['id']}"),
    ]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(404, "not_found")}
    assert client.get("/api/v1/models", {"project_id": str(person.project_id)}).json()["results"] == []


def test_a_viewer_reads_models_but_neither_uploads_nor_deletes(person, new_person):
    model = upload(person.browser())
    client = new_person(joins=person, role=Role.VIEWER).browser()
    assert client.get(f"/api/v1/models/{model['id']}").status_code == 200
    assert begin(client, project_id=str(person.project_id)).status_code == 403
    assert client.delete(f"/api/v1/models/{model['id']}").status_code == 403


def test_an_inspection_accepts_once(person):
    model = upload(person.browser())
    to_inspect = services.to_inspect(model_id=model["id"])
    assert (to_inspect.sha256, to_inspect.name) == (SHA256, "net.onnx")
    assert services.accept(model_id=model["id"], summary=SUMMARY)
    assert not services.refuse(model_id=model["id"], code="x", detail="late", params={})
    assert services.to_inspect(model_id=model["id"]) is None
    found = person.browser().get(f"/api/v1/models/{model['id']}").json()
    assert (found["state"], found["summary"], found["refusal"]) == ("accepted", SUMMARY, None)


def test_a_refusal_says_why(person):
    model = upload(person.browser())
    services.refuse(model_id=model["id"], code="model.empty_file", detail="Upload another.", params={"bytes": 0})
    found = person.browser().get(f"/api/v1/models/{model['id']}").json()
    assert found["state"] == "refused"
    assert found["refusal"] == {"code": "model.empty_file", "detail": "Upload another.", "params": {"bytes": 0}}


def test_a_deleted_model_is_gone_for_everybody(person):
    model = upload(person.browser())
    client = person.browser()
    assert client.delete(f"/api/v1/models/{model['id']}").status_code == 204
    assert client.get(f"/api/v1/models/{model['id']}").status_code == 404
    assert client.get("/api/v1/models").json()["results"] == []
    assert services.to_inspect(model_id=model["id"]) is None


def test_a_lost_inspection_is_sent_again(person):
    model = upload(person.browser())
    with person.opened():
        Model.objects.filter(id=model["id"]).update(created_at=timezone.now() - timedelta(minutes=10))
    assert services.enqueue_waiting() >= 1
    services.accept(model_id=model["id"], summary=SUMMARY)
    with person.opened():
        assert Model.objects.get(id=model["id"]).state == "accepted"


def test_forgotten_uploads_go_with_their_files(person):
    row = begin(person.browser()).json()
    kept = begin(person.browser()).json()
    with person.opened():
        Upload.objects.filter(id=row["id"]).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert uploads.expire_uploads() >= 1
    assert not (storage.uploads_folder() / row["id"]).exists()
    assert person.browser().get(f"/api/v1/uploads/{row['id']}").status_code == 404
    assert person.browser().get(f"/api/v1/uploads/{kept['id']}").status_code == 200


def test_models_come_in_pages_newest_first(person):
    client = person.browser()
    ids = [upload(client, os.urandom(10))["id"] for _ in range(5)]
    first = client.get("/api/v1/models", {"limit": 2}).json()
    second = client.get(first["next"]).json()
    third = client.get(second["next"]).json()
    assert [row["id"] for part in (first, second, third) for row in part["results"]] == ids[::-1]
    assert third["next"] is None


def test_the_zoo_and_the_datasets_are_public(client):
    assert "zoo:mnist" in [row["id"] for row in client.get("/api/v1/zoo").json()]
    assert [row["id"] for row in client.get("/api/v1/datasets").json()] == ["digits", "synthetic"]
