"""What the field `model` of a request means: an uploaded model that the asker may use, or one of the zoo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import simulator
from portal.errors import PodiumError
from portal.organizations.models import Project
from portal.registry.models import Model
from portal.tenancy import Actor


@dataclass(frozen=True)
class ModelReference:
    """A model that can be run. Exactly one of `model_id` and `zoo` is set; `summary` is the inspection of an upload."""

    model_id: UUID | None
    zoo: str
    name: str
    sha256: str
    trainable: bool
    summary: Mapping[str, Any] | None


def resolve(actor: Actor, text: str, *, project: Project) -> ModelReference:
    """The model named `zoo:...` or by its id, within the organization of `project`. Refuses others by field."""
    if text.startswith("zoo:"):
        return _of_zoo(text)
    model_id = _uuid(text)
    model = (
        model_id and Model.objects.visible_to(actor).filter(id=model_id, org_id=project.org_id, deleted_at=None).first()
    )
    if not model:
        raise _refusal("model.unknown", "There is no such model here: choose one of yours, or one of the zoo.")
    if model.state != Model.State.ACCEPTED:
        raise _refusal(
            "model.not_accepted",
            "This model is still being inspected: wait a moment."
            if model.state == Model.State.INSPECTING
            else "This model was refused, so it cannot be run: see its page for the reason.",
        )
    summary = model.summary or {}
    return ModelReference(model.id, "", model.name, model.sha256, bool(summary.get("trainable")), summary)


def _of_zoo(name: str) -> ModelReference:
    for entry in simulator.ZOO:
        if entry.id == name:
            return ModelReference(None, name, entry.name, "", entry.trainable, None)
    known = ", ".join(entry.id for entry in simulator.ZOO)
    raise _refusal("model.unknown", f"The zoo has no {name[:60]}. It has: {known}.")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _refusal(code: str, message: str) -> PodiumError:
    return PodiumError(code, message, status=422, fields={"model": (code, message)})
