"""The tenant whose things strangers try to reach: one of each kind, named so that a leak shows in any answer."""

import io
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.e2e.models import classifier
from tests.e2e.people import Person, join, wait_for
from tests.e2e.stack import Stack

CANARY = "canary-8d1f"
START = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) + timedelta(days=40)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Owner:
    """`things` are ids by the names that matrix.py uses."""

    person: Person
    things: dict[str, str]

    def secrets(self) -> set[str]:
        """What may stand in no answer to a stranger. A pod, a suite and the zoo belong to nobody."""
        public = {"pod_id", "slug", "start", "end"}
        return {value for name, value in self.things.items() if name not in public} | {CANARY, self.person.email}


def settle(stack: Stack, folder: Path) -> Owner:
    """Make one thing of each kind through the API."""
    person = join(stack, CANARY)
    organization = person.organization
    things = {
        "organization_id": organization["id"],
        "org_id": organization["id"],
        "project_id": person.project_id,
        "user_id": person.session()["user"]["id"],
        "token_id": person.web.get("/api/v1/tokens").json()["results"][0]["id"],
        "start": START.isoformat(),
        "end": (START + HOUR).isoformat(),
        "slug": person.api.get("/api/v1/suites").json()[0]["slug"],
    }
    things |= _uploads(person, folder)
    things |= _reservation(person)
    things |= _job(person, things["model_id"])
    return Owner(person, things)


def _uploads(person: Person, folder: Path) -> dict[str, str]:
    """An upload half way, and a model."""
    started = person.api.post("/api/v1/uploads", json={"name": f"{CANARY}-half.onnx", "size": 100})
    assert started.status_code == 201, started.text
    content = classifier(folder / "owned.onnx", seed=99).read_bytes()
    request = {"name": f"{CANARY}.onnx", "size": len(content)}
    upload = person.api.post("/api/v1/uploads", json=request).json()["id"]
    headers = {"Content-Type": "application/octet-stream", "Upload-Offset": "0"}
    sent = person.api.put(f"/api/v1/uploads/{upload}", content=io.BytesIO(content).read(), headers=headers)
    assert sent.status_code == 200, sent.text
    model = person.api.post(f"/api/v1/uploads/{upload}/complete").json()["id"]
    wait_for(lambda: person.api.get(f"/api/v1/models/{model}").json()["state"] == "accepted", what="the inspection")
    return {"upload_id": started.json()["id"], "model_id": model}


def _reservation(person: Person) -> dict[str, str]:
    pod = next(row for row in person.api.get("/api/v1/pods").json() if row["system"] == "pod16")
    times = {"starts_at": START.isoformat(), "ends_at": (START + HOUR).isoformat(), "zone": "UTC"}
    booked = person.api.post("/api/v1/reservations", json={"pod_id": pod["id"], "ipus": 1} | times)
    assert booked.status_code == 201, booked.text
    return {"pod_id": pod["id"], "reservation_id": booked.json()["id"]}


def _job(person: Person, model: str) -> dict[str, str]:
    config = {"task": "infer", "system": "pod4", "ipus": 1, "batch": 4, "steps": 1}
    estimate = person.api.post("/api/v1/estimates", json={"model": model, "config": config})
    assert estimate.status_code in (200, 202), estimate.text
    launched = person.api.post("/api/v1/jobs", json={"model": model, "name": f"{CANARY} job", "config": config})
    assert launched.status_code == 201, launched.text
    job = f"/api/v1/jobs/{launched.json()['id']}"
    wait_for(lambda: person.api.get(job).json()["state"] == "succeeded", what="the owner's job")
    artefacts = person.api.get(f"{job}/artefacts").json()
    return {"job_id": launched.json()["id"], "estimate_id": estimate.json()["id"], "artefact_id": artefacts[0]["id"]}
