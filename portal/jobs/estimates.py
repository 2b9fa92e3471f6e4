"""Estimates: what a run would take and cost, worked out by a jailed worker and kept by model, settings and engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

import simulator
from portal import queue, storage, tenancy
from portal.errors import PodiumError
from portal.events import publish
from portal.jobs import payment, slices
from portal.jobs.configuration import complete
from portal.jobs.events import EstimateReady
from portal.jobs.models import Estimate
from portal.jobs.references import resolve
from portal.organizations.access import project_for
from portal.organizations.models import Project
from portal.registry.models import Model
from portal.tenancy import Actor, Role

SEND_AGAIN_AFTER = timedelta(seconds=30)
GIVE_UP_AFTER = timedelta(minutes=5)


@dataclass(frozen=True)
class Question:
    """What a worker needs to answer. `model_path` is None for a model of the zoo."""

    zoo: str
    model_path: Path | None
    config: dict[str, Any]


def ask(
    *,
    actor: Actor,
    model: str,
    config: Mapping[str, Any],
    project_id: UUID | None = None,
    reservation_id: UUID | None = None,
) -> Estimate:
    """The estimate of such a run: answered at once when it is known, else a worker is asked."""
    project = project_for(actor, project_id, Role.MEMBER)
    reference = resolve(actor, model, project=project)
    settled = complete(config, reference)
    place = slices.place_for(actor, settled, reservation_id=reservation_id, project=project, must_be_active=False)
    settled = {**settled, "system": place.system, "ipus": place.ipus}
    reserved = reservation_id is not None
    key = key_of(reference.zoo or reference.sha256, settled, reserved=reserved)
    with tenancy.atomic():
        row, is_new = Estimate.objects.get_or_create(
            project_id=project.id,
            key=key,
            defaults={
                "org_id": project.org_id, "model_id": reference.model_id, "zoo": reference.zoo, "config": settled,
                "reserved": reserved,
                "engine_release": simulator.ENGINE_RELEASE, "asked_at": Now(), "sent_at": Now(),
            },
        )  # fmt: skip
        if row.state == Estimate.State.FAILED and row.error and row.error["code"].startswith("jail."):
            Estimate.objects.filter(id=row.id).update(state=Estimate.State.PENDING, asked_at=Now(), sent_at=Now())
            is_new = True
        if is_new:
            queue.enqueue(queue.ESTIMATE, row.id)
    return Estimate.objects.get(id=row.id)


def key_of(model: str, config: Mapping[str, Any], *, reserved: bool) -> str:
    """One name for equal questions: the model's content, all settings, and the engine that answers."""
    asked = {"model": model, "config": dict(config), "reserved": reserved, "engine": simulator.engine_fingerprint()}
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def expected_seconds(project: Project, model: str, config: Mapping[str, Any]) -> float | None:
    """Simulated seconds of the whole run, if it was estimated."""
    row = Estimate.objects.filter(
        project_id=project.id, key=key_of(model, config, reserved=False), state=Estimate.State.READY
    ).first()
    return None if row is None or row.estimate is None else row.estimate["total_simulated_seconds"]


def question(estimate_id: UUID) -> Question | None:
    """What was asked; None when it has been answered already."""
    with tenancy.context(role="system"):
        row = Estimate.objects.filter(id=estimate_id, state=Estimate.State.PENDING).first()
        if row is None:
            return None
        if row.model_id is None:
            return Question(row.zoo, None, row.config)
        model = Model.objects.get(id=row.model_id)
        return Question("", storage.path(model.sha256), row.config)


def answer(estimate_id: UUID, report: Mapping[str, Any]) -> None:
    """A worker's report, in short, with its price."""
    _settle(estimate_id, lambda row: {"state": Estimate.State.READY, "estimate": _short(report, row)})


def fail(estimate_id: UUID, error: PodiumError) -> None:
    """Why there is no estimate."""
    problem = {"code": error.code, "detail": error.message, "params": error.params}
    _settle(estimate_id, lambda row: {"state": Estimate.State.FAILED, "error": problem})


def send_again() -> None:
    """Ask once more what nobody has answered, and give up on what nobody can answer. System role, by the ticker."""
    with tenancy.context(role="system"):
        lost = Estimate.objects.filter(state=Estimate.State.PENDING, sent_at__lt=Now() - SEND_AGAIN_AFTER)
        given_up = list(lost.filter(asked_at__lt=Now() - GIVE_UP_AFTER).values_list("id", flat=True)[:100])
        again = list(lost.exclude(id__in=given_up).values_list("id", flat=True)[:100])
        Estimate.objects.filter(id__in=again).update(sent_at=Now())
        for estimate_id in again:
            queue.enqueue(queue.ESTIMATE, estimate_id)
    for estimate_id in given_up:
        fail(estimate_id, PodiumError("estimate.no_worker", "No worker answered: try again in a moment."))


def _settle(estimate_id: UUID, values: Any) -> None:
    with tenancy.context(role="system"):
        row = Estimate.objects.select_for_update().filter(id=estimate_id, state=Estimate.State.PENDING).first()
        if row is None:
            return
        columns = values(row)
        Estimate.objects.filter(id=row.id).update(**columns)
        publish(EstimateReady(row.id, row.project_id, columns["state"]))


def _short(report: Mapping[str, Any], row: Estimate) -> dict[str, Any]:
    config, memory, time = row.config, report["memory"], report["time"]
    latency = report.get("latency") or {}
    total = (report["step_seconds"] or 0) * config["steps"]
    return {
        "fits": report["fits"],
        "step_seconds": report["step_seconds"],
        "samples_per_second": report["samples_per_second"],
        "latency_seconds": latency.get("seconds"),
        "total_simulated_seconds": total,
        "memory": {
            "worst_tile_bytes": memory["worst_tile"]["bytes"],
            "bytes_per_tile": memory["bytes_per_tile"],
            "over_by": (memory["overflow"] or {}).get("over_by", 0),
        },
        "price_microcredits": 0
        if row.reserved
        else payment.price(system=config["system"], ipus=config["ipus"], simulated_seconds=total),
        "bound_by": time["bound_by"],
        "sentence": time["sentence"],
        "intervals": report["intervals"],
        "batch_equation": {
            "micro_batch": report["parallel"]["micro_batch"],
            "replicas": report["parallel"]["replicas"],
            "global_batch": report["parallel"]["global_batch"],
        },
    }
