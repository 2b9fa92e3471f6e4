"""API tokens as they are stored (never the secret, only its keyed hash), and requests of device login."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from portal.tenancy.tables import Row, SystemModel, TableClass, TenantQuerySet

MOST_DAYS = 365


class Token(Row):
    """A person's token for one organization, or for one project of it.

    What it may do never changes after it is made: a trigger lets it only end earlier. `networks` are the addresses it
    may be used from (empty: any).
    """

    table_class = TableClass.TENANT

    org_id = models.UUIDField(editable=False)
    project_id = models.UUIDField(null=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.BinaryField(unique=True)
    scopes = ArrayField(models.CharField(max_length=40))
    networks = ArrayField(models.CharField(max_length=43), default=list)
    client = models.CharField(max_length=80, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    last_used_address = models.GenericIPAddressField(null=True)
    revoked_at = models.DateTimeField(null=True)
    replaced_by_id = models.UUIDField(null=True)

    objects = TenantQuerySet.as_manager()


class TokenPolicy(Row):
    """How long tokens of an organization may live; without a row, as long as any."""

    table_class = TableClass.TENANT

    org_id = models.UUIDField(editable=False, unique=True)
    most_days = models.PositiveSmallIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(most_days__gte=1, most_days__lte=MOST_DAYS), name="tokens_policy_days")
        ]


class DeviceRequest(SystemModel):
    """A program that asks to be let in (RFC 8628). Both of its codes are kept as keyed hashes."""

    class State(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"
        DENIED = "denied"
        REDEEMED = "redeemed"

    device_digest = models.BinaryField(unique=True)
    code_digest = models.BinaryField(unique=True)
    client = models.CharField(max_length=80)
    scopes = ArrayField(models.CharField(max_length=40))
    address = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    interval = models.PositiveSmallIntegerField(default=5)
    polled_at = models.DateTimeField(null=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    org_id = models.UUIDField(null=True)
    project_id = models.UUIDField(null=True)
    days = models.PositiveSmallIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["address", "expires_at"], name="tokens_device_by_address")]


class DeviceGuess(SystemModel):
    """A code that a person typed and that no program shows."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class SocketTicket(SystemModel):
    """Lets one page open one socket, once and at once. Kept as a keyed hash."""

    digest = models.BinaryField(unique=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    session_key = models.CharField(max_length=40)
    path = models.CharField(max_length=80)
    expires_at = models.DateTimeField(db_index=True)
    used_at = models.DateTimeField(null=True)
