"""Base classes of every table, and the class of each: whose rows it holds. Policies are made in migrations.

tenant: rows of an organization (row-level security forced). user: rows of a person. system: the platform's own.
public: readable by everybody.
"""

from enum import StrEnum
from typing import Any, ClassVar, Self

from django.apps import apps
from django.db import models

from portal.tenancy.actor import Actor
from portal.tenancy.context import current
from portal.tenancy.ids import uuid7


class TableClass(StrEnum):
    TENANT = "tenant"
    USER = "user"
    SYSTEM = "system"
    PUBLIC = "public"


# Tables of libraries, classed by hand: none of them holds a row of an organization.
LIBRARY_TABLES = {
    "account_emailaddress": TableClass.USER,
    "account_emailconfirmation": TableClass.USER,
    "auth_group": TableClass.SYSTEM,
    "auth_group_permissions": TableClass.SYSTEM,
    "auth_permission": TableClass.SYSTEM,
    "django_content_type": TableClass.SYSTEM,
    "django_migrations": TableClass.SYSTEM,
    "django_session": TableClass.USER,
}


class TenantQuerySet(models.QuerySet[Any]):
    """Rows of organizations; `visible_to` is the one door to them."""

    def visible_to(self, actor: Actor) -> Self:
        """Rows that the actor may read. It needs an open tenancy context, or the database would answer with nothing."""
        if current() is None:
            raise RuntimeError("Tenant rows were asked for outside tenancy.context(...).")
        rows = self.filter(org_id__in=actor.org_ids)
        return rows.filter(project_id=actor.project_id) if actor.project_id else rows


class Row(models.Model):
    """A row with an id made by the application."""

    table_class: ClassVar[TableClass]

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)

    class Meta:
        abstract = True


class TenantModel(Row):
    """A row of an organization, in one of its projects.

    Its migration calls `rls.TenantTable`, which adds the foreign keys.
    """

    table_class = TableClass.TENANT

    org_id = models.UUIDField(editable=False)
    project_id = models.UUIDField(editable=False)

    objects = TenantQuerySet.as_manager()

    class Meta:
        abstract = True


class UserModel(Row):
    """A row of one person, whatever organization they act in."""

    table_class = TableClass.USER

    class Meta:
        abstract = True


class SystemModel(Row):
    """A row of the platform itself."""

    table_class = TableClass.SYSTEM

    class Meta:
        abstract = True


class PublicModel(Row):
    """A row that anybody may read."""

    table_class = TableClass.PUBLIC

    class Meta:
        abstract = True


def table_classes() -> dict[str, TableClass]:
    """Every table that the installed apps own, with its class."""
    ours = {
        model._meta.db_table: model.table_class
        for model in apps.get_models(include_auto_created=True)
        if hasattr(model, "table_class")
    }
    return {**LIBRARY_TABLES, **ours}
