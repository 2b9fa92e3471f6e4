"""Organizations, projects and memberships: facts and constraints. Verbs are in services."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from portal.tenancy import Role
from portal.tenancy.tables import Row, TableClass


class Organization(Row):
    """A tenant. A personal one belongs to exactly one person."""

    table_class = TableClass.TENANT

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    personal_of = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)


class Project(Row):
    """A part of an organization; each has one called default."""

    table_class = TableClass.TENANT

    org_id = models.UUIDField(editable=False)
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    is_default = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["org_id", "slug"], name="organizations_project_slug"),
            models.UniqueConstraint(fields=["org_id"], condition=Q(is_default=True), name="organizations_one_default"),
        ]


class Membership(Row):
    """A person's role in an organization."""

    table_class = TableClass.TENANT

    org_id = models.UUIDField(editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    role = models.CharField(max_length=10, choices=[(role.value, role.value) for role in Role])
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["org_id", "user"], name="organizations_one_membership"),
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="organizations_known_role"),
        ]
