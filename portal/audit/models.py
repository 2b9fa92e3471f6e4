"""The log's rows, and the chain that ties them. Both are written once: triggers refuse changes, whoever asks."""

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from portal.tenancy.tables import Row, TableClass


class Entry(Row):
    """One thing that was done. It refers to nothing by key, since it outlives what it tells of.

    Without an organization it is a matter of the person (a log-in) or of the platform.
    """

    table_class = TableClass.TENANT

    org_id = models.UUIDField(null=True, editable=False)
    project_id = models.UUIDField(null=True, editable=False)
    at = models.DateTimeField(auto_now_add=True)
    actor_id = models.UUIDField(null=True)
    token_id = models.UUIDField(null=True)
    on_behalf_of_id = models.UUIDField(null=True)
    action = models.CharField(max_length=60)
    target_id = models.CharField(max_length=80, blank=True)
    label = models.CharField(max_length=120, blank=True)
    before = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    after = models.JSONField(null=True, encoder=DjangoJSONEncoder)
    address = models.GenericIPAddressField(null=True)
    user_agent = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=64, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["org_id", "-id"], name="audit_by_organization"),
            models.Index(fields=["org_id", "actor_id", "-id"], name="audit_by_actor"),
            models.Index(fields=["org_id", "target_id", "-id"], name="audit_by_target"),
        ]


class Link(Row):
    """The place of the entry with the same id in the chain of its organization: `hash` covers it and the link before.

    A trigger writes it at commit, so that the chain has the order of commits and no verb waits for it earlier. The
    platform's own chain has the id of zeros.
    """

    table_class = TableClass.TENANT

    org_id = models.UUIDField(editable=False)
    place = models.BigIntegerField()
    previous = models.BinaryField()
    hash = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["org_id", "place"], name="audit_one_chain")]
