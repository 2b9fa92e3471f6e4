"""Models, the zoo and the datasets over HTTP. Uploading is in `upload_api`."""

from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

import simulator
from portal import storage
from portal.errors import NotFound
from portal.http.fields import ProjectPageQuery, page_of
from portal.http.files import download
from portal.http.pagination import page
from portal.http.views import PodiumView
from portal.registry import services
from portal.registry.datasets import DATASETS
from portal.registry.models import Model
from portal.registry.shapes import ModelSerializer
from portal.registry.upload_api import CompleteView, UploadsView, UploadView


class ZooModelSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    parameters = serializers.IntegerField()
    trainable = serializers.BooleanField()


class DatasetSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    samples = serializers.IntegerField(allow_null=True)
    classes = serializers.IntegerField(allow_null=True)


class ModelsView(PodiumView):
    """Uploaded models, newest first."""

    scopes = {"GET": "models:read"}

    @extend_schema(
        operation_id="models_list", parameters=[ProjectPageQuery], responses=page_of(ModelSerializer), tags=["models"]
    )
    def get(self, request: Request) -> Response:
        given = self.query(ProjectPageQuery)
        rows = Model.objects.visible_to(self.actor).select_related("created_by")
        if given.get("project_id"):
            rows = rows.filter(project_id=given["project_id"])
        return page(request, rows, lambda row: ModelSerializer(row).data)


class ModelView(PodiumView):
    scopes = {"GET": "models:read", "DELETE": "models:write"}

    @extend_schema(operation_id="models_retrieve", responses=ModelSerializer, tags=["models"])
    def get(self, request: Request, model_id: UUID) -> Response:
        return Response(ModelSerializer(_found(self, model_id)).data)

    @extend_schema(operation_id="models_delete", responses={204: None}, tags=["models"])
    def delete(self, request: Request, model_id: UUID) -> Response:
        services.delete(actor=self.actor, model_id=model_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ModelFileView(PodiumView):
    """The bytes as uploaded, always as an attachment: nothing in them is shown by a browser."""

    scopes = {"GET": "models:read"}

    @extend_schema(
        operation_id="models_file",
        responses={(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY)},
        tags=["models"],
    )
    def get(self, request: Request, model_id: UUID) -> StreamingHttpResponse:
        row = _found(self, model_id)
        return download(storage.path(row.sha256), name=row.name)


def _found(view: PodiumView, model_id: UUID) -> Model:
    row = Model.objects.visible_to(view.actor).filter(id=model_id).select_related("created_by").first()
    if row is None:
        raise NotFound
    return row


class ZooView(PodiumView):
    """Models that come with Podium; `zoo:...` can be used wherever a model is asked for."""

    public = ("GET",)

    @extend_schema(operation_id="zoo_list", responses=ZooModelSerializer(many=True), tags=["models"])
    def get(self, request: Request) -> Response:
        return Response(ZooModelSerializer(simulator.ZOO, many=True).data)


class DatasetsView(PodiumView):
    """Built-in datasets to train on."""

    public = ("GET",)

    @extend_schema(operation_id="datasets_list", responses=DatasetSerializer(many=True), tags=["models"])
    def get(self, request: Request) -> Response:
        return Response(DatasetSerializer(DATASETS, many=True).data)


routes = [
    path("zoo", ZooView.as_view()),
    path("datasets", DatasetsView.as_view()),
    path("uploads", UploadsView.as_view()),
    path("uploads/<uuid:upload_id>", UploadView.as_view()),
    path("uploads/<uuid:upload_id>/complete", CompleteView.as_view()),
    path("models", ModelsView.as_view()),
    path("models/<uuid:model_id>", ModelView.as_view()),
    path("models/<uuid:model_id>/file", ModelFileView.as_view()),
]
