"""The outbox over HTTP. Signing up, in and out is allauth's headless API at /_allauth/browser/v1/."""

import ipaddress
from typing import Any

from django.conf import settings
from django.urls import path
from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal.accounts.models import OutboxMail
from portal.accounts.outbox import links
from portal.errors import NotFound
from portal.http.views import PodiumView


class OutboxMailSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    to = serializers.EmailField()
    subject = serializers.CharField()
    body = serializers.CharField()
    links = serializers.SerializerMethodField()
    sent_at = serializers.DateTimeField()

    def get_links(self, row: OutboxMail) -> list[str]:
        return links(row.body)


class OutboxView(PodiumView):
    """Mails of an installation without a mail server, shown to browsers on the same machine and to nobody else."""

    public = ("GET",)

    @extend_schema(
        operation_id="outbox_list",
        responses=inline_serializer("Outbox", {"results": OutboxMailSerializer(many=True)}),
        tags=["session"],
    )
    def get(self, request: Request) -> Response:
        if not settings.OUTBOX or not _is_loopback(request.META.get("REMOTE_ADDR", "")):
            raise NotFound
        rows = OutboxMail.objects.order_by("-id")[:50]
        return Response({"results": OutboxMailSerializer(rows, many=True).data})


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


routes = [path("outbox", OutboxView.as_view())]
