"""Tokens over HTTP. They are made, rotated and revoked by signed-in people alone."""

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.http.fields import PageQuery, PersonSerializer, page_of
from portal.http.pagination import page
from portal.http.views import PodiumView
from portal.organizations.access import require
from portal.tenancy import Role
from portal.tokens import device_api, networks, services, tickets
from portal.tokens.models import MOST_DAYS, Token
from portal.tokens.scopes import NEEDED, SCOPES, operations


class TokenSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    prefix = serializers.CharField(help_text="How it begins, to tell it from others.")
    person = PersonSerializer(source="user")
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    networks = serializers.ListField(
        child=serializers.CharField(), help_text="Where it may be used from; empty: anywhere."
    )
    client = serializers.CharField(help_text="The program that asked for it by device login, if one did.")
    organization_id = serializers.UUIDField(source="org_id")
    project_id = serializers.UUIDField(allow_null=True)
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="To the minute.")
    last_used_address = serializers.CharField(allow_null=True)
    revoked_at = serializers.DateTimeField(allow_null=True)
    replaced_by_id = serializers.UUIDField(allow_null=True, help_text="The token that it was rotated to.")


class NewTokenSerializer(TokenSerializer):
    token = serializers.CharField(help_text="The secret; it is shown this once.")


class CreateTokenSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=80)
    scopes = serializers.ListField(child=serializers.CharField(max_length=40), allow_empty=False, max_length=40)
    networks = serializers.ListField(
        child=serializers.CharField(max_length=43), required=False, max_length=networks.MOST
    )
    expires_in_days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS)
    organization_id = serializers.UUIDField()
    project_id = serializers.UUIDField(required=False, allow_null=True)


class RotateTokenSerializer(serializers.Serializer[Any]):
    overlap_hours = serializers.IntegerField(
        min_value=0, max_value=services.LONGEST_OVERLAP_HOURS, help_text="How long the old one still lives."
    )


class RevokeTokensSerializer(serializers.Serializer[Any]):
    organization_id = serializers.UUIDField(required=False, help_text="Of this organization only.")
    of_everybody = serializers.BooleanField(default=False, help_text="For admins: not only one's own.")


class TokenPolicySerializer(serializers.Serializer[Any]):
    most_days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS, help_text="How long tokens may live.")


class ScopesQuery(serializers.Serializer[Any]):
    organization_id = serializers.UUIDField(required=False, help_text="Judge by the caller's role there.")


class ScopeSerializer(serializers.Serializer[Any]):
    scope = serializers.ChoiceField(choices=SCOPES)
    needs = serializers.ChoiceField(choices=list(Role), help_text="The role without which it is of no use.")
    useful = serializers.BooleanField(help_text="Whether the caller has that role.")
    operations = serializers.ListField(child=serializers.CharField())


def _told(token: Token, secret: str) -> Response:
    return Response({**TokenSerializer(token).data, "token": secret}, status=status.HTTP_201_CREATED)


class TokensView(PodiumView):
    scopes = {"GET": "tokens:read"}
    session_only = ("POST",)

    @extend_schema(
        operation_id="tokens_list", parameters=[PageQuery], responses=page_of(TokenSerializer), tags=["tokens"]
    )
    def get(self, request: Request) -> Response:
        rows = Token.objects.filter(org_id__in=self.actor.org_ids).select_related("user")
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
            networks=given.get("networks", ()),
            expires_in_days=given["expires_in_days"],
            org_id=given["organization_id"],
            project_id=given.get("project_id"),
        )
        return _told(token, secret)


class TokenView(PodiumView):
    session_only = ("DELETE",)

    @extend_schema(operation_id="tokens_delete", responses={204: None}, tags=["tokens"])
    def delete(self, request: Request, token_id: UUID) -> Response:
        services.revoke(actor=self.actor, token_id=token_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class RotateTokenView(PodiumView):
    """Gives a token a successor with the same rights."""

    session_only = ("POST",)

    @extend_schema(
        operation_id="tokens_rotate",
        request=RotateTokenSerializer,
        responses={201: NewTokenSerializer},
        tags=["tokens"],
    )
    def post(self, request: Request, token_id: UUID) -> Response:
        hours = self.body(RotateTokenSerializer)["overlap_hours"]
        return _told(*services.rotate(actor=self.actor, token_id=token_id, overlap_hours=hours))


class RevokeTokensView(PodiumView):
    """Ends all tokens at once."""

    session_only = ("POST",)

    @extend_schema(
        operation_id="tokens_revoke_all",
        request=RevokeTokensSerializer,
        responses=inline_serializer("RevokedTokens", {"revoked": serializers.IntegerField()}),
        tags=["tokens"],
    )
    def post(self, request: Request) -> Response:
        given = self.body(RevokeTokensSerializer)
        count = services.revoke_all(
            actor=self.actor, org_id=given.get("organization_id"), of_everybody=given["of_everybody"]
        )
        return Response({"revoked": count})


class ScopesView(PodiumView):
    """What each scope lets a token do, to look at before making one."""

    scopes = {"GET": "tokens:read"}

    @extend_schema(
        operation_id="tokens_scopes", parameters=[ScopesQuery], responses=ScopeSerializer(many=True), tags=["tokens"]
    )
    def get(self, request: Request) -> Response:
        org_id = self.query(ScopesQuery).get("organization_id")
        role = require(self.actor, org_id, Role.VIEWER) if org_id else Role.OWNER
        rows = [
            {"scope": scope, "needs": needed, "useful": role.reaches(needed), "operations": operations()[scope]}
            for scope, needed in NEEDED.items()
        ]
        return Response(ScopeSerializer(rows, many=True).data)


class TokenPolicyView(PodiumView):
    """How long tokens of an organization may live."""

    scopes = {"GET": "organizations:read"}
    session_only = ("PUT",)

    @extend_schema(operation_id="token_policy_retrieve", responses=TokenPolicySerializer, tags=["tokens"])
    def get(self, request: Request, org_id: UUID) -> Response:
        return Response({"most_days": services.most_days(actor=self.actor, org_id=org_id)})

    @extend_schema(
        operation_id="token_policy_update",
        request=TokenPolicySerializer,
        responses=TokenPolicySerializer,
        tags=["tokens"],
    )
    def put(self, request: Request, org_id: UUID) -> Response:
        days = self.body(TokenPolicySerializer)["most_days"]
        return Response({"most_days": services.set_policy(actor=self.actor, org_id=org_id, most_days=days)})


class TicketSerializer(serializers.Serializer[Any]):
    path = serializers.CharField(max_length=80, help_text="Of the socket: /ws/v1.")


class TicketView(PodiumView):
    """A ticket with which a page opens its socket, as the subprotocol ticket.TICKET beside podium.v1."""

    session_only = ("POST",)

    @extend_schema(
        operation_id="tickets_create",
        request=TicketSerializer,
        responses={201: inline_serializer("Ticket", {"ticket": serializers.CharField()})},
        tags=["session"],
    )
    def post(self, request: Request) -> Response:
        path, key = self.body(TicketSerializer)["path"], str(request.session.session_key)
        ticket = tickets.issue(actor=self.actor, session_key=key, path=path)
        return Response({"ticket": ticket}, status=status.HTTP_201_CREATED)


routes = [
    path("tickets", TicketView.as_view()),
    path("tokens", TokensView.as_view()),
    path("tokens/scopes", ScopesView.as_view()),
    path("tokens/revoke-all", RevokeTokensView.as_view()),
    path("tokens/<uuid:token_id>", TokenView.as_view()),
    path("tokens/<uuid:token_id>/rotate", RotateTokenView.as_view()),
    path("organizations/<uuid:org_id>/token-policy", TokenPolicyView.as_view()),
    *device_api.routes,
]
