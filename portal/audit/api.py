"""The audit log over HTTP: an organization's for its admins, one's own, and everything for operators."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import OuterRef, QuerySet, Subquery
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal import tenancy
from portal.audit.models import Entry
from portal.errors import NotFound, PodiumError
from portal.http.fields import AwareDateTimeField, PageQuery, page_of
from portal.http.pagination import page
from portal.http.views import PodiumView
from portal.tenancy import Role


class AuditEntrySerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    action = serializers.CharField(help_text="A noun and what happened to it, such as token.created.")
    actor_id = serializers.UUIDField(allow_null=True, help_text="Null for the platform itself.")
    actor_email = serializers.CharField(allow_null=True)
    token_id = serializers.UUIDField(allow_null=True, help_text="The token that was used, if it was one.")
    on_behalf_of_id = serializers.UUIDField(allow_null=True)
    organization_id = serializers.UUIDField(source="org_id", allow_null=True)
    project_id = serializers.UUIDField(allow_null=True)
    target_id = serializers.CharField(allow_blank=True)
    name = serializers.CharField(source="label", allow_blank=True, help_text="What the thing was called then.")
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)
    address = serializers.CharField(allow_null=True)
    user_agent = serializers.CharField(allow_blank=True)
    request_id = serializers.CharField(allow_blank=True)


class AuditQuery(PageQuery):
    action = serializers.CharField(required=False, max_length=60, help_text="token.created, or token for all of them.")
    actor_id = serializers.UUIDField(required=False)
    token_id = serializers.UUIDField(required=False)
    target_id = serializers.CharField(required=False, max_length=80)
    since = AwareDateTimeField(required=False)
    until = AwareDateTimeField(required=False)


class PlatformAuditQuery(AuditQuery):
    organization_id = serializers.UUIDField(required=False)


def _filtered(rows: QuerySet[Entry], wanted: dict[str, Any]) -> QuerySet[Entry]:
    """Rows that the query asks for, each with the address of who did it."""
    for name in ("actor_id", "token_id", "target_id"):
        if name in wanted:
            rows = rows.filter(**{name: wanted[name]})
    if "organization_id" in wanted:
        rows = rows.filter(org_id=wanted["organization_id"])
    if "action" in wanted:
        noun, dot, _ = wanted["action"].partition(".")
        rows = rows.filter(action=wanted["action"]) if dot else rows.filter(action__startswith=f"{noun}.")
    since: datetime | None = wanted.get("since")
    until: datetime | None = wanted.get("until")
    rows = rows.filter(at__gte=since) if since else rows
    rows = rows.filter(at__lt=until) if until else rows
    emails = get_user_model().objects.filter(id=OuterRef("actor_id")).values("email")[:1]
    return rows.annotate(actor_email=Subquery(emails))


def _page(request: Request, rows: QuerySet[Entry]) -> Response:
    return page(request, rows, lambda row: AuditEntrySerializer(row).data)


class OrganizationAuditView(PodiumView):
    """What was done in an organization, newest first; for its admins."""

    scopes = {"GET": "audit:read"}

    @extend_schema(
        operation_id="organizations_audit_list",
        parameters=[AuditQuery],
        responses=page_of(AuditEntrySerializer),
        tags=["audit"],
    )
    def get(self, request: Request, org_id: UUID) -> Response:
        role = self.actor.roles.get(org_id)
        if role is None:
            raise NotFound
        if not role.reaches(Role.ADMIN) or self.actor.project_id:
            text = "The audit log is for admins of the whole organization: ask one of them."
            raise PodiumError("audit.admins_only", text, status=403)
        return _page(request, _filtered(Entry.objects.filter(org_id=org_id), self.query(AuditQuery)))


class OwnAuditView(PodiumView):
    """What was done to the caller's own account: log-ins, refused ones too, and changes of how to log in."""

    session_only = ("GET",)

    @extend_schema(
        operation_id="audit_mine_list", parameters=[AuditQuery], responses=page_of(AuditEntrySerializer), tags=["audit"]
    )
    def get(self, request: Request) -> Response:
        mine = self.actor.user_id
        rows = Entry.objects.filter(org_id=None, actor_id=mine) | Entry.objects.filter(org_id=None, target_id=str(mine))
        return _page(request, _filtered(rows, self.query(AuditQuery)))


class PlatformAuditView(PodiumView):
    """Everything that was done on this installation; for operators, and in person only."""

    session_only = ("GET",)

    @extend_schema(
        operation_id="audit_list",
        parameters=[PlatformAuditQuery],
        responses=page_of(AuditEntrySerializer),
        tags=["audit"],
    )
    def get(self, request: Request) -> Response:
        if not self.actor.is_operator:
            raise NotFound
        with tenancy.context(role="system"):
            return _page(request, _filtered(Entry.objects.all(), self.query(PlatformAuditQuery)))


routes = [
    path("audit", PlatformAuditView.as_view()),
    path("audit/mine", OwnAuditView.as_view()),
    path("organizations/<uuid:org_id>/audit", OrganizationAuditView.as_view()),
]
