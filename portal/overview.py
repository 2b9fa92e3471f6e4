"""What a page asks first: who is signed in, their organizations with projects and credits, and what runs here."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import path
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import ensure_csrf_cookie
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

import simulator
from portal.accounts.models import User
from portal.credits.services import balances
from portal.errors import NotFound
from portal.http.views import PodiumView
from portal.organizations.models import Organization, Project
from portal.tenancy import Actor, Role


class SessionUserSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    email = serializers.EmailField()
    name = serializers.CharField()
    is_operator = serializers.BooleanField()


class ProjectSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()


class OrganizationSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.ChoiceField(choices=list(Role))
    is_personal = serializers.BooleanField()
    balance_microcredits = serializers.IntegerField()
    projects = ProjectSerializer(many=True)


class SessionSerializer(serializers.Serializer[Any]):
    user = SessionUserSerializer(allow_null=True)
    organizations = OrganizationSerializer(many=True)
    engine_release = serializers.CharField()
    embedded = serializers.BooleanField(help_text="Runs on one machine, as `./podium up` starts it.")
    outbox = serializers.BooleanField(help_text="Mails are shown at /outbox instead of being sent.")


def organizations_of(actor: Actor) -> list[dict[str, Any]]:
    """The actor's organizations, the personal one first; a project token sees its project alone."""
    projects: dict[UUID, list[Project]] = {}
    rows = Project.objects.filter(org_id__in=actor.org_ids)
    if actor.project_id:
        rows = rows.filter(id=actor.project_id)
    for project in rows.order_by("-is_default", "id"):
        projects.setdefault(project.org_id, []).append(project)
    wallets = balances(actor.org_ids)
    found = Organization.objects.filter(id__in=actor.org_ids).order_by("id")
    shaped = [
        {
            "id": org.id,
            "slug": org.slug,
            "name": org.name,
            "role": actor.roles[org.id],
            "is_personal": org.personal_of_id == actor.user_id,
            "balance_microcredits": wallets.get(org.id, 0),
            "projects": projects.get(org.id, []),
        }
        for org in found
    ]
    return sorted(shaped, key=lambda org: not org["is_personal"])


@method_decorator(ensure_csrf_cookie, name="dispatch")
class SessionView(PodiumView):
    """Who is signed in; also sets the CSRF cookie that changing requests need."""

    public = ("GET",)

    @extend_schema(operation_id="session_retrieve", responses=SessionSerializer, tags=["session"])
    def get(self, request: Request) -> Response:
        actor = self.visitor
        user = User.objects.filter(id=actor.user_id).first() if actor else None
        shaped = {
            "user": user,
            "organizations": organizations_of(actor) if actor else [],
            "engine_release": simulator.ENGINE_RELEASE,
            "embedded": settings.EMBEDDED,
            "outbox": settings.OUTBOX,
        }
        return Response(SessionSerializer(shaped).data)


class OrganizationsView(PodiumView):
    scopes = {"GET": "organizations:read"}

    @extend_schema(
        operation_id="organizations_list", responses=OrganizationSerializer(many=True), tags=["organizations"]
    )
    def get(self, request: Request) -> Response:
        return Response(OrganizationSerializer(organizations_of(self.actor), many=True).data)


class OrganizationView(PodiumView):
    scopes = {"GET": "organizations:read"}

    @extend_schema(operation_id="organizations_retrieve", responses=OrganizationSerializer, tags=["organizations"])
    def get(self, request: Request, org_id: UUID) -> Response:
        for org in organizations_of(self.actor):
            if org["id"] == org_id:
                return Response(OrganizationSerializer(org).data)
        raise NotFound


routes = [
    path("session", SessionView.as_view()),
    path("organizations", OrganizationsView.as_view()),
    path("organizations/<uuid:org_id>", OrganizationView.as_view()),
]
