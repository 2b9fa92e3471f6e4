"""Verbs on uploads: begin, receive a part, complete. What arrived is on disk before its number is in the row."""

import os
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from portal import storage, tenancy
from portal.errors import NotFound, PodiumError
from portal.events import publish
from portal.organizations.access import project_for, require
from portal.queue import INSPECT_MODEL, enqueue
from portal.registry.events import ModelChanged
from portal.registry.models import Model, Upload
from portal.registry.services import tell
from portal.tenancy import Actor, Role

LIFE = timedelta(days=2)


def begin(*, actor: Actor, name: str, size: int, sha256: str = "", project_id: UUID | None = None) -> Upload:
    """Open an upload of `size` bytes; parts may be sent over two days."""
    project = project_for(actor, project_id)
    if size == 0:
        text = "The file is empty: export the model again and upload the new file."
        raise PodiumError("model.empty_file", text, status=422)
    if size > settings.UPLOAD_MAX_BYTES:
        raise PodiumError(
            "upload.too_large",
            f"The file has {size} bytes and at most {settings.UPLOAD_MAX_BYTES} are taken: upload a smaller model.",
            status=413,
            params={"max_bytes": settings.UPLOAD_MAX_BYTES},
        )
    with tenancy.atomic():
        upload = Upload.objects.create(
            org_id=project.org_id,
            project_id=project.id,
            name=name,
            size=size,
            sha256=sha256,
            created_by_id=actor.user_id,
            expires_at=timezone.now() + LIFE,
        )
        _file(upload).touch(mode=0o600)
    return upload


def receive(*, actor: Actor, upload_id: UUID, offset: int, chunks: Iterable[bytes]) -> Upload:
    """Append a part that begins at `offset`; another offset than expected is refused with the right one (409)."""
    with tenancy.atomic():
        upload = _locked(actor, upload_id)
        if upload.model_id is not None:
            raise PodiumError("upload.completed", "This upload is complete: begin another one.", status=409)
        if offset != upload.received:
            raise PodiumError(
                "upload.wrong_offset",
                f"The next part begins at byte {upload.received}: go on from there.",
                status=409,
                params={"received": upload.received},
            )
        upload.received = offset + _write(upload, offset, chunks)
        upload.save(update_fields=["received"])
    return upload


def _write(upload: Upload, offset: int, chunks: Iterable[bytes]) -> int:
    """Write at the offset and sync; bytes beyond the announced size are refused before they reach the disk."""
    written = 0
    with _file(upload).open("r+b") as file:
        file.seek(offset)
        for chunk in chunks:
            if offset + written + len(chunk) > upload.size:
                raise PodiumError(
                    "upload.beyond_size", "More bytes came than were announced: begin the upload again.", status=422
                )
            file.write(chunk)
            written += len(chunk)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
    return written


def complete(*, actor: Actor, upload_id: UUID) -> Model:
    """Make the upload a model and have it inspected. Completing twice gives the same model."""
    with tenancy.atomic():
        upload = _locked(actor, upload_id)
        if upload.model_id is not None:
            model = Model.objects.visible_to(actor).filter(id=upload.model_id).first()
            if model is None:
                raise NotFound
            return model
        if upload.received != upload.size:
            raise PodiumError(
                "upload.incomplete",
                f"{upload.received} of {upload.size} bytes have arrived: send the rest first.",
                status=409,
                params={"received": upload.received, "size": upload.size},
            )
        return _make_model(actor, upload)


def _make_model(actor: Actor, upload: Upload) -> Model:
    blob = _keep(upload)
    model = Model.objects.create(
        org_id=upload.org_id,
        project_id=upload.project_id,
        name=upload.name,
        sha256=blob.sha256,
        bytes=blob.bytes,
        created_by_id=actor.user_id,
    )
    upload.model_id = model.id
    upload.save(update_fields=["model_id"])
    enqueue(INSPECT_MODEL, model.id)
    tell("model.uploaded", actor, model)
    publish(ModelChanged(model.project_id, model.id, model.state))
    return model


def _keep(upload: Upload) -> storage.Blob:
    """Move the file into the store, unless it is not what was announced: then the upload starts again from nothing."""
    digest = storage.sha256_of(_file(upload))
    if upload.sha256 and digest != upload.sha256:
        raise PodiumError(
            "upload.damaged",
            "The bytes that arrived are not the file that was announced (its SHA-256 differs): upload it again.",
            status=422,
            params={"sha256": digest},
        )
    tenancy.on_commit(lambda: _file(upload).unlink(missing_ok=True))
    return storage.adopt(_file(upload), digest)


def expire_uploads(*, now: datetime | None = None) -> int:
    """Delete uploads that nobody finished in time, with their files. For the ticker."""
    with tenancy.context(role="system"):
        expired = list(Upload.objects.filter(expires_at__lt=now or timezone.now())[:500])
        for upload in expired:
            _file(upload).unlink(missing_ok=True)
        Upload.objects.filter(id__in=[upload.id for upload in expired]).delete()
    return len(expired)


def _locked(actor: Actor, upload_id: UUID) -> Upload:
    upload = Upload.objects.visible_to(actor).filter(id=upload_id).select_for_update().first()
    if upload is None:
        raise NotFound
    require(actor, upload.org_id, Role.MEMBER)
    return upload


def _file(upload: Upload) -> Path:
    return storage.uploads_folder() / str(upload.id)
