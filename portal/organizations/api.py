"""Members of organizations over HTTP. The organizations themselves are told by portal.overview, with their credits."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.http.fields import PageQuery, page_of
from portal.http.pagination import page
from portal.http.views import PodiumView
from portal.organizations import services
from portal.organizations.access import require
from portal.organizations.models import Membership
from portal.tenancy import Role


class MemberSerializer(serializers.Serializer[Any]):
    user_id = serializers.UUIDField()
    name = serializers.CharField(source="user.get_full_name")
    email = serializers.EmailField(source="user.email")
    role = serializers.ChoiceField(choices=list(Role))
    joined_at = serializers.DateTimeField(source="created_at")


class AddMemberSerializer(serializers.Serializer[Any]):
    email = serializers.EmailField()
    role = serializers.ChoiceField(choices=list(Role))


class ChangeMemberSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=list(Role))


class MembersView(PodiumView):
    scopes = {"GET": "organizations:read", "POST": "organizations:write"}

    @extend_schema(
        operation_id="members_list", parameters=[PageQuery], responses=page_of(MemberSerializer), tags=["organizations"]
    )
    def get(self, request: Request, org_id: UUID) -> Response:
        require(self.actor, org_id, Role.VIEWER)
        rows = Membership.objects.filter(org_id=org_id).select_related("user")
        return page(request, rows, lambda row: MemberSerializer(row).data, ordering="id")

    @extend_schema(
        operation_id="members_create",
        request=AddMemberSerializer,
        responses={201: MemberSerializer},
        tags=["organizations"],
    )
    def post(self, request: Request, org_id: UUID) -> Response:
        given = self.body(AddMemberSerializer)
        member = services.add_member(actor=self.actor, org_id=org_id, email=given["email"], role=Role(given["role"]))
        return Response(MemberSerializer(member).data, status=status.HTTP_201_CREATED)


class MemberView(PodiumView):
    scopes = {"PATCH": "organizations:write", "DELETE": "organizations:write"}

    @extend_schema(
        operation_id="members_update",
        request=ChangeMemberSerializer,
        responses=MemberSerializer,
        tags=["organizations"],
    )
    def patch(self, request: Request, org_id: UUID, user_id: UUID) -> Response:
        require(self.actor, org_id, Role.VIEWER)
        role = Role(self.body(ChangeMemberSerializer)["role"])
        member = services.change_role(actor=self.actor, org_id=org_id, user_id=user_id, role=role)
        return Response(MemberSerializer(member).data)

    @extend_schema(operation_id="members_delete", responses={204: None}, tags=["organizations"])
    def delete(self, request: Request, org_id: UUID, user_id: UUID) -> Response:
        require(self.actor, org_id, Role.VIEWER)
        services.remove_member(actor=self.actor, org_id=org_id, user_id=user_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


routes = [
    path("organizations/<uuid:org_id>/members", MembersView.as_view()),
    path("organizations/<uuid:org_id>/members/<uuid:user_id>", MemberView.as_view()),
]
