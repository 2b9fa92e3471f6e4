"""Verbs on models: what an inspection reports, and deleting. Uploads are in `uploads`."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from portal import tenancy
from portal.audit import services as audit
from portal.errors import NotFound
from portal.events import publish
from portal.organizations.access import require
from portal.queue import INSPECT_MODEL, enqueue
from portal.registry.events import ModelChanged
from portal.registry.models import Model
from portal.tenancy import Actor, Role

State = Model.State
# An inspection ends within a minute and a half; one that is older was lost.
LOST_AFTER = timedelta(minutes=3)


@dataclass(frozen=True, slots=True)
class ToInspect:
    """What the inspecting task needs to know."""

    id: UUID
    name: str
    sha256: str


def to_inspect(*, model_id: UUID) -> ToInspect | None:
    """The model, if it still waits for its inspection."""
    with tenancy.context(role="system"):
        row = Model.objects.filter(id=model_id, state=State.INSPECTING, deleted_at=None).first()
    return ToInspect(row.id, row.name, row.sha256) if row else None


def accept(*, model_id: UUID, summary: Mapping[str, Any]) -> bool:
    """The model can be used; `summary` is the simulator's inspection. False when somebody was first."""
    return _conclude(model_id, state=State.ACCEPTED, summary=dict(summary))


def refuse(*, model_id: UUID, code: str, detail: str, params: Mapping[str, Any]) -> bool:
    """The model cannot be used, and why. False when somebody was first."""
    return _conclude(model_id, state=State.REFUSED, refusal={"code": code, "detail": detail, "params": dict(params)})


def _conclude(model_id: UUID, *, state: Model.State, **outcome: Any) -> bool:
    with tenancy.context(role="system"):
        waiting = Model.objects.filter(id=model_id, state=State.INSPECTING)
        if not waiting.update(state=state, inspected_at=timezone.now(), **outcome):
            return False
        project_id = Model.objects.values_list("project_id", flat=True).get(id=model_id)
        publish(ModelChanged(project_id, model_id, state))
    return True


def enqueue_waiting() -> int:
    """Send lost inspections again. For the ticker, about once a minute."""
    with tenancy.context(role="system"):
        waiting = Model.objects.filter(
            state=State.INSPECTING, deleted_at=None, created_at__lt=timezone.now() - LOST_AFTER
        )
        ids = list(waiting.order_by("created_at").values_list("id", flat=True)[:100])
        for model_id in ids:
            enqueue(INSPECT_MODEL, model_id)
    return len(ids)


def tell(action: str, actor: Actor, row: Model) -> None:
    """Write into the audit log what was done to a model."""
    facts = {"sha256": row.sha256, "bytes": row.bytes}
    audit.record_of(row, action, actor=actor, label=row.name, after=facts)


def delete(*, actor: Actor, model_id: UUID) -> None:
    """Hide the model from everybody. Its bytes stay, since finished jobs stand on them."""
    with tenancy.atomic():
        row = Model.objects.visible_to(actor).filter(id=model_id).select_for_update().first()
        if row is None:
            raise NotFound
        require(actor, row.org_id, Role.MEMBER)
        row.deleted_at = timezone.now()
        row.save(update_fields=["deleted_at"])
        tell("model.deleted", actor, row)
        publish(ModelChanged(row.project_id, row.id, "deleted"))
