"""Files of the field and hostile ones, uploaded to a running Podium: each gets an answer, and the workers live on."""

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from portal.ops.home import CHECKOUT
from tests.e2e.people import Person, join, wait_for
from tests.e2e.processes import process_of
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
SHARED = Path(os.environ.get("PODIUM_SHARED") or CHECKOUT.parent / "shared")
needs_samples = pytest.mark.skipif(
    not (SHARED / "hostile" / "MANIFEST.tsv").exists(), reason="no folder of sample files: name one in PODIUM_SHARED"
)


@pytest.fixture(scope="module")
def person(stack: Stack) -> Person:
    return join(stack, "samples")


def upload(person: Person, path: Path) -> str:
    """The model's id; an upload that is refused outright is its problem's code instead, with a leading '!'."""
    content = path.read_bytes()
    begun = person.api.post("/api/v1/uploads", json={"name": path.name, "size": len(content)})
    if begun.status_code != 201:
        return "!" + begun.json()["code"]
    address = f"/api/v1/uploads/{begun.json()['id']}"
    for offset in range(0, len(content), begun.json()["part_bytes"]):
        headers = {"Content-Type": "application/octet-stream", "Upload-Offset": str(offset)}
        part = content[offset : offset + begun.json()["part_bytes"]]
        assert person.api.put(address, content=part, headers=headers).status_code == 200
    done = person.api.post(f"{address}/complete")
    assert done.status_code == 201, done.text
    return done.json()["id"]


def outcomes(person: Person, paths: list[Path]) -> dict[str, dict[str, Any]]:
    """Each file's model row once it is inspected, or the problem's code in its place."""
    ids = {path.name: upload(person, path) for path in paths}
    rows: dict[str, dict[str, Any]] = {}

    def inspected(model_id: str) -> dict[str, Any] | None:
        row = person.api.get(f"/api/v1/models/{model_id}").json()
        return None if row["state"] == "inspecting" else row

    for name, found in ids.items():
        if found.startswith("!"):
            rows[name] = {"state": "refused", "refusal": {"code": found[1:], "detail": "refused at upload"}}
        else:
            rows[name] = wait_for(
                lambda model_id=found: inspected(model_id), seconds=600, what=f"the inspection of {name}"
            )
    return rows


@needs_samples
def test_every_hostile_file_gets_the_answer_it_deserves(stack: Stack, person: Person) -> None:
    with (SHARED / "hostile" / "MANIFEST.tsv").open(newline="", encoding="utf-8") as file:
        expected = {row["file"]: row["expected"] for row in csv.DictReader(file, delimiter="\t")}
    paths = sorted(path for name in expected if (path := SHARED / "hostile" / name).is_file())
    assert len(paths) > 50
    worker = process_of(stack, "worker")
    rows = outcomes(person, paths)
    wrong = {}
    for name, row in rows.items():
        wanted, code = expected[name], (row["refusal"] or {}).get("code", "")
        one_answer = wanted.startswith(("ACCEPT", "REJECT")) and " or " not in wanted and " if " not in wanted
        if one_answer and row["state"] != ("accepted" if wanted.startswith("ACCEPT") else "refused"):
            wrong[name] = f"{row['state']} {code}, expected {wanted}"
        if code.startswith(("internal", "jail.crash")):
            wrong[name] = f"{code}: our fault, expected {wanted}"
        if row["state"] == "refused" and len(row["refusal"]["detail"]) < 15:
            wrong[name] = f"{code} says nothing"
    assert wrong == {}
    assert process_of(stack, "worker").pid == worker.pid, "the worker fell"


@needs_samples
def test_models_of_the_field_are_accepted_or_told_what_is_missing(person: Person) -> None:
    rows = outcomes(person, sorted((SHARED / "models").glob("*.onnx")))
    assert len(rows) > 15
    for name, row in rows.items():
        if row["state"] == "accepted":
            assert row["summary"]["nodes"] > 0, name
        else:
            assert row["refusal"]["code"].startswith("model."), (name, row["refusal"])
    assert sum(row["state"] == "accepted" for row in rows.values()) >= len(rows) // 2
