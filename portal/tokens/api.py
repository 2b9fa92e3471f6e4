"""Tokens over HTTP. They are made and revoked by signed-in people alone."""

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
from portal.tenancy import Role
from portal.tokens import services
from portal.tokens.models import Token
from portal.tokens.scopes import SCOPES


class TokenSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="How it begins, to tell it from others.")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    organization_id = serializers.UUIDField(source="org_id")
    project_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewTokenSerializer(TokenSerializer):
    token = serializers.CharField(help_text="The secret; it is shown this once.")


class CreateTokenSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)
    scopes = serializers.ListField(child=serializers.CharField(max_length=40), allow_empty=False, max_length=40)
    expires_in_days = serializers.IntegerField(min_value=1, max_value=365)
    organization_id = serializers.UUIDField()
    project_id = serializers.UUIDField(required=False, allow_null=True)


class TokensView(PodiumView):
    scopes = {"GET": "tokens:read"}
    session_only = ("POST",)

    @extend_schema(
        operation_id="tokens_list", parameters=[PageQuery], responses=page_of(TokenSerializer), tags=["tokens"]
    )
    def get(self, request: Request) -> Response:
        rows = Token.objects.filter(org_id__in=self.actor.org_ids)
        admin_of = [org_id for org_id, role in self.actor.roles.items() if role.reaches(Role.ADMIN)]
        rows = rows.filter(user_id=self.actor.user_id) | rows.filter(org_id__in=admin_of)
        return page(request, rows, lambda row: TokenSerializer(row).data)

    @extend_schema(
        operation_id="tokens_create",
        request=CreateTokenSerializer,
        responses={201: NewTokenSerializer},
        tags=["tokens"],
    )
    def post(self, request: Request) -> Response:
        given = self.body(CreateTokenSerializer)
        token, secret = services.create(
            actor=self.actor,
            name=given["name"],
            scopes=given["scopes"],
            expires_in_days=given["expires_in_days"],
            org_id=given["organization_id"],
            project_id=given.get("project_id"),
        )
        return Response({**TokenSerializer(token).data, "token": secret}, status=status.HTTP_201_CREATED)


class TokenView(PodiumView):
    session_only = ("DELETE",)

    @extend_schema(operation_id="tokens_delete", responses={204: None}, tags=["tokens"])
    def delete(self, request: Request, token_id: UUID) -> Response:
        services.revoke(actor=self.actor, token_id=token_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


routes = [path("tokens", TokensView.as_view()), path("tokens/<uuid:token_id>", TokenView.as_view())]
