"""Device login over HTTP: two addresses for the program, in the shapes of RFC 8628, and two for the person."""

from typing import Any

from django.conf import settings
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.parsers import FormParser, JSONParser
from rest_framework.request import Request
from rest_framework.response import Response

from portal.audit.origin import current_origin
from portal.errors import PodiumError
from portal.errors.handler import MEDIA_TYPE, problem
from portal.http.views import PodiumView
from portal.tokens import device
from portal.tokens.models import MOST_DAYS
from portal.tokens.scopes import SCOPES

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SENTENCES = {
    device.Waiting.PENDING: "Nobody has decided yet: ask again.",
    device.Waiting.SLOW_DOWN: "You ask too often: wait five seconds longer each time.",
    device.Waiting.DENIED: "The person said no.",
    device.Waiting.EXPIRED: "The code has expired: begin again.",
    device.Waiting.INVALID: "There is no such code, or it was used already: begin again.",
}


class BeginSerializer(serializers.Serializer[Any]):
    client_id = serializers.CharField(max_length=80, help_text="What the person is shown, such as the host's name.")
    scope = serializers.CharField(max_length=600, help_text="Scopes with spaces between them.")


class BegunSerializer(serializers.Serializer[Any]):
    device_code = serializers.CharField()
    user_code = serializers.CharField()
    verification_uri = serializers.CharField()
    verification_uri_complete = serializers.CharField()
    expires_in = serializers.IntegerField(help_text="Seconds.")
    interval = serializers.IntegerField(help_text="Seconds to wait between two questions.")


class RedeemSerializer(serializers.Serializer[Any]):
    grant_type = serializers.ChoiceField(choices=[GRANT])
    device_code = serializers.CharField(max_length=100)
    client_id = serializers.CharField(max_length=80, required=False)


class DeviceRequestSerializer(serializers.Serializer[Any]):
    client = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=SCOPES))
    address = serializers.CharField(allow_null=True)
    user_agent = serializers.CharField()
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class LookSerializer(serializers.Serializer[Any]):
    user_code = serializers.CharField(max_length=20)


class DecideSerializer(LookSerializer):
    approve = serializers.BooleanField()
    organization_id = serializers.UUIDField()
    project_id = serializers.UUIDField(required=False, allow_null=True)
    expires_in_days = serializers.IntegerField(min_value=1, max_value=MOST_DAYS, default=30)


class BeginView(PodiumView):
    """A program asks to be let in; it shows the code and the address to its person."""

    public = ("POST",)
    parser_classes = (JSONParser, FormParser)

    @extend_schema(operation_id="device_begin", request=BeginSerializer, responses=BegunSerializer, tags=["device"])
    def post(self, request: Request) -> Response:
        given, origin = self.body(BeginSerializer), current_origin()
        begun = device.begin(
            client=given["client_id"],
            scopes=given["scope"].split(),
            address=origin.address,
            user_agent=origin.user_agent,
        )
        page = f"{settings.PODIUM_URL}/device"
        return Response(
            {
                "device_code": begun.device_code,
                "user_code": begun.user_code,
                "verification_uri": page,
                "verification_uri_complete": f"{page}?code={begun.user_code}",
                "expires_in": int(device.LIFE.total_seconds()),
                "interval": begun.interval,
            }
        )


class RedeemView(PodiumView):
    """The program comes for its token. A refusal is a problem with the RFC's `error` beside."""

    public = ("POST",)
    parser_classes = (JSONParser, FormParser)

    @extend_schema(
        operation_id="device_redeem",
        request=RedeemSerializer,
        responses=inline_serializer(
            "DeviceToken",
            {
                "access_token": serializers.CharField(),
                "token_type": serializers.CharField(),
                "expires_at": serializers.DateTimeField(),
                "expires_in": serializers.IntegerField(help_text="Seconds."),
                "scope": serializers.CharField(),
            },
        ),
        tags=["device"],
    )
    def post(self, request: Request) -> Response:
        outcome = device.redeem(device_code=self.body(RedeemSerializer)["device_code"])
        if isinstance(outcome, device.Waiting):
            refusal = problem(PodiumError(f"device.{outcome.value}", SENTENCES[outcome], status=400))
            return Response(
                {**refusal, "error": outcome.value}, status=status.HTTP_400_BAD_REQUEST, content_type=MEDIA_TYPE
            )
        token, secret = outcome
        return Response(
            {
                "access_token": secret,
                "token_type": "Bearer",
                "expires_at": token.expires_at,
                "expires_in": int((token.expires_at - timezone.now()).total_seconds()),
                "scope": " ".join(token.scopes),
            }
        )


class LookView(PodiumView):
    """Which program shows a code, and what it asks for."""

    session_only = ("POST",)

    @extend_schema(
        operation_id="device_look", request=LookSerializer, responses=DeviceRequestSerializer, tags=["device"]
    )
    def post(self, request: Request) -> Response:
        found = device.look(actor=self.actor, user_code=self.body(LookSerializer)["user_code"])
        return Response(DeviceRequestSerializer(found).data)


class DecideView(PodiumView):
    """The person lets the program in, or turns it away."""

    session_only = ("POST",)

    @extend_schema(operation_id="device_decide", request=DecideSerializer, responses={204: None}, tags=["device"])
    def post(self, request: Request) -> Response:
        given = self.body(DecideSerializer)
        device.decide(
            actor=self.actor,
            user_code=given["user_code"],
            approve=given["approve"],
            org_id=given["organization_id"],
            project_id=given.get("project_id"),
            days=given["expires_in_days"],
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


routes = [
    path("device/begin", BeginView.as_view()),
    path("device/token", RedeemView.as_view()),
    path("device/look", LookView.as_view()),
    path("device/decide", DecideView.as_view()),
]
