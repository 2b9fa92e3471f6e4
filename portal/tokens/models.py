"""API tokens as they are stored: never the secret, only its keyed hash."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from portal.tenancy.tables import Row, TableClass, TenantQuerySet


class Token(Row):
    """A person's token for one organization, or for one project of it.

    What it may do never changes after it is made.
    """

    table_class = TableClass.TENANT

    org_id = models.UUIDField(editable=False)
    project_id = models.UUIDField(null=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.BinaryField(unique=True)
    scopes = ArrayField(models.CharField(max_length=40))
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = TenantQuerySet.as_manager()
