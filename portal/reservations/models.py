"""Reservations: facts and constraints. The IPUs themselves are an occupancy of portal.pods."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from portal.pods.models import Occupancy, Pod
from portal.tenancy.tables import TenantModel


class Reservation(TenantModel):
    """A slice. Stored states are booked, ended and cancelled; a booked one is active while its time runs."""

    class State(models.TextChoices):
        BOOKED = "booked"
        ENDED = "ended"
        CANCELLED = "cancelled"

    pod = models.ForeignKey(Pod, on_delete=models.PROTECT, related_name="+")
    occupancy = models.OneToOneField(Occupancy, on_delete=models.SET_NULL, null=True, related_name="+")
    ipu_start = models.PositiveIntegerField()
    ipus = models.PositiveIntegerField()
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    zone = models.CharField(max_length=60)
    state = models.CharField(max_length=10, choices=State.choices, default=State.BOOKED)
    price_microcredits = models.BigIntegerField()
    hold_id = models.UUIDField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["ends_at"], condition=Q(state="booked"), name="reservations_due")]
        constraints = [
            models.CheckConstraint(condition=Q(starts_at__lt=F("ends_at")), name="reservations_starts_before_end")
        ]

    def state_at(self, now: datetime) -> str:
        """booked, active, ended or cancelled, as people are told."""
        if self.state != self.State.BOOKED:
            return self.state
        if now < self.starts_at:
            return "booked"
        return "active" if now < self.ends_at else "ended"
