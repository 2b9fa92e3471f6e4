"""Estimates over HTTP: answered at once when known (200), else asked of a worker (202) and fetched by id."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.errors import NotFound
from portal.http.views import PodiumView
from portal.jobs import estimates
from portal.jobs.models import Estimate
from portal.jobs.shapes import ConfigField


class AskSerializer(serializers.Serializer[Any]):
    """What would be launched."""

    model = serializers.CharField(max_length=100)
    config = ConfigField()
    reservation_id = serializers.UUIDField(required=False, allow_null=True)
    project_id = serializers.UUIDField(required=False, allow_null=True)


class EstimateMemorySerializer(serializers.Serializer[Any]):
    worst_tile_bytes = serializers.IntegerField()
    bytes_per_tile = serializers.IntegerField()
    over_by = serializers.IntegerField()


class BatchEquationSerializer(serializers.Serializer[Any]):
    micro_batch = serializers.IntegerField()
    replicas = serializers.IntegerField()
    global_batch = serializers.IntegerField()


class EstimatedSerializer(serializers.Serializer[Any]):
    """All times and rates are simulated."""

    fits = serializers.BooleanField()
    step_seconds = serializers.FloatField()
    samples_per_second = serializers.FloatField()
    latency_seconds = serializers.FloatField(allow_null=True)
    total_simulated_seconds = serializers.FloatField()
    memory = EstimateMemorySerializer()
    price_microcredits = serializers.IntegerField()
    bound_by = serializers.CharField()
    sentence = serializers.CharField()
    intervals = serializers.DictField()
    batch_equation = BatchEquationSerializer()


class EstimateErrorSerializer(serializers.Serializer[Any]):
    """Why there is no estimate, as a problem says it."""

    code = serializers.CharField()
    detail = serializers.CharField()
    params = serializers.DictField()


class EstimateSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    state = serializers.ChoiceField(choices=Estimate.State.choices)
    estimate = EstimatedSerializer(allow_null=True)
    error = EstimateErrorSerializer(allow_null=True)


class EstimatesView(PodiumView):
    scopes = {"POST": "jobs:write"}

    @extend_schema(
        operation_id="estimates_create",
        request=AskSerializer,
        responses={200: EstimateSerializer, 202: EstimateSerializer},
        tags=["jobs"],
    )
    def post(self, request: Request) -> Response:
        given = self.body(AskSerializer)
        row = estimates.ask(
            actor=self.actor,
            model=given["model"],
            config=given["config"],
            project_id=given.get("project_id"),
            reservation_id=given.get("reservation_id"),
        )
        pending = row.state == Estimate.State.PENDING
        return Response(
            EstimateSerializer(row).data, status=status.HTTP_202_ACCEPTED if pending else status.HTTP_200_OK
        )


class EstimateView(PodiumView):
    scopes = {"GET": "jobs:read"}

    @extend_schema(operation_id="estimates_retrieve", responses=EstimateSerializer, tags=["jobs"])
    def get(self, request: Request, estimate_id: UUID) -> Response:
        row = Estimate.objects.visible_to(self.actor).filter(id=estimate_id).first()
        if row is None:
            raise NotFound
        return Response(EstimateSerializer(row).data)


routes = [
    path("estimates", EstimatesView.as_view()),
    path("estimates/<uuid:estimate_id>", EstimateView.as_view()),
]
