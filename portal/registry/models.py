"""Uploads under way and models stored. A model's bytes are a blob of portal.storage, named by hash."""

from typing import ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from portal.tenancy import Actor
from portal.tenancy.tables import TenantModel, TenantQuerySet


class Upload(TenantModel):
    """A file that is arriving in parts; its bytes so far are one file of the uploads folder, named by id."""

    name = models.CharField(max_length=255)
    size = models.BigIntegerField()
    received = models.BigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    model_id = models.UUIDField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(received__gte=0, received__lte=F("size"), size__gt=0), name="registry_upload_within_size"
            )
        ]


class ModelQuerySet(TenantQuerySet):
    """Models; deleted ones are visible to nobody."""

    def visible_to(self, actor: Actor) -> Self:
        return super().visible_to(actor).filter(deleted_at=None)


class Model(TenantModel):
    """A model as uploaded, and what inspecting it found. Its bytes never change; deleting hides it from then on."""

    class State(models.TextChoices):
        INSPECTING = "inspecting"
        ACCEPTED = "accepted"
        REFUSED = "refused"

    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    bytes = models.BigIntegerField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.INSPECTING)
    summary = models.JSONField(null=True)
    refusal = models.JSONField(null=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    inspected_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    objects: ClassVar = ModelQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["project_id", "-id"], name="registry_model_by_project"),
            models.Index(fields=["created_at"], condition=Q(state="inspecting"), name="registry_model_waiting"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="inspecting", summary__isnull=True, refusal__isnull=True)
                | Q(state="accepted", summary__isnull=False, refusal__isnull=True)
                | Q(state="refused", summary__isnull=True, refusal__isnull=False),
                name="registry_model_state_has_its_reason",
            )
        ]
