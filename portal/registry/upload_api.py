"""Resumable uploads over HTTP: announce, send parts of 8 MiB, complete. A broken connection goes on from `received`."""

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any
from uuid import UUID

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers, status
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from portal.errors import NotFound, PodiumError
from portal.http.idempotency import idempotent
from portal.http.views import PodiumView
from portal.registry import uploads
from portal.registry.models import Upload
from portal.registry.shapes import ModelSerializer

CHUNK = 256 * 1024


class UploadSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    size = serializers.IntegerField()
    received = serializers.IntegerField()
    part_bytes = serializers.SerializerMethodField(help_text="Most bytes that one part may have.")
    expires_at = serializers.DateTimeField()

    def get_part_bytes(self, row: Upload) -> int:
        return int(settings.UPLOAD_PART_BYTES)


class BeginUploadSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=255)
    size = serializers.IntegerField(min_value=0)
    sha256 = serializers.RegexField(
        r"^[0-9a-f]{64}$", required=False, allow_blank=True, help_text="Checked at the end."
    )
    project_id = serializers.UUIDField(required=False, allow_null=True)

    def validate_name(self, name: str) -> str:
        """The last part of whatever path a browser sent, without control characters; it never becomes a path."""
        name = re.sub(r"[\x00-\x1f\x7f]", "", re.split(r"[/\\]", name)[-1]).strip()
        if not name or name in {".", ".."}:
            raise serializers.ValidationError("Give the file a name.")
        return name


class RawParser(BaseParser):
    """The body as a stream, unread."""

    media_type = "application/octet-stream"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return stream


class UploadsView(PodiumView):
    scopes = {"POST": "models:write"}

    @extend_schema(
        operation_id="uploads_create", request=BeginUploadSerializer, responses={201: UploadSerializer}, tags=["models"]
    )
    def post(self, request: Request) -> Response:
        given = self.body(BeginUploadSerializer)
        upload = uploads.begin(
            actor=self.actor,
            name=given["name"],
            size=given["size"],
            sha256=given.get("sha256", ""),
            project_id=given.get("project_id"),
        )
        return Response(UploadSerializer(upload).data, status=status.HTTP_201_CREATED)


class UploadView(PodiumView):
    scopes = {"GET": "models:write", "PUT": "models:write"}
    parser_classes = [RawParser]

    @extend_schema(operation_id="uploads_retrieve", responses=UploadSerializer, tags=["models"])
    def get(self, request: Request, upload_id: UUID) -> Response:
        upload = Upload.objects.visible_to(self.actor).filter(id=upload_id).first()
        if upload is None:
            raise NotFound
        return Response(UploadSerializer(upload).data)

    @extend_schema(
        operation_id="uploads_part",
        request={"application/octet-stream": OpenApiTypes.BINARY},
        parameters=[
            OpenApiParameter(
                "Upload-Offset", int, OpenApiParameter.HEADER, required=True, description="Bytes before it."
            )
        ],
        responses=inline_serializer("UploadProgress", {"received": serializers.IntegerField()}),
        tags=["models"],
    )
    def put(self, request: Request, upload_id: UUID) -> Response:
        offset = request.headers.get("Upload-Offset", "")
        if not re.fullmatch(r"\d{1,15}", offset):
            raise PodiumError(
                "upload.offset_missing",
                "Send the header Upload-Offset: how many bytes come before this part.",
                status=422,
            )
        length = int(request.headers.get("Content-Length") or 0)
        if length > settings.UPLOAD_PART_BYTES:
            raise PodiumError(
                "upload.part_too_large",
                f"A part has at most {settings.UPLOAD_PART_BYTES} bytes: send smaller ones.",
                status=413,
                params={"part_bytes": settings.UPLOAD_PART_BYTES},
            )
        upload = uploads.receive(
            actor=self.actor, upload_id=upload_id, offset=int(offset), chunks=_chunks(request.data, length)
        )
        return Response({"received": upload.received})


def _chunks(body: Any, length: int) -> Iterator[bytes]:
    """The body in pieces; REST framework gives an empty mapping when there is none."""
    if not length or not hasattr(body, "read"):
        return
    while chunk := body.read(CHUNK):
        yield chunk


class CompleteView(PodiumView):
    scopes = {"POST": "models:write"}

    @extend_schema(operation_id="uploads_complete", request=None, responses={201: ModelSerializer}, tags=["models"])
    @idempotent
    def post(self, request: Request, upload_id: UUID) -> Response:
        model = uploads.complete(actor=self.actor, upload_id=upload_id)
        return Response(ModelSerializer(model).data, status=status.HTTP_201_CREATED)
