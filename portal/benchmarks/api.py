"""Boards over HTTP: public, also to the signed out."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal.benchmarks import boards
from portal.benchmarks.models import PublishedRow
from portal.http.views import PodiumView


class RulesSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    model = serializers.CharField()
    task = serializers.ChoiceField(choices=["train", "infer"])
    config = serializers.DictField(help_text="Settings that the board fixes.")
    least_steps = serializers.IntegerField()
    text = serializers.CharField()


class SuiteSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=["training_throughput", "inference_latency"])
    unit = serializers.CharField()
    better = serializers.ChoiceField(choices=["higher", "lower"])
    description = serializers.CharField()
    rules = RulesSerializer()
    rows_simulated = serializers.IntegerField()


class SimulatedRowSerializer(serializers.Serializer[Any]):
    """A simulated result, ranked."""

    rank = serializers.IntegerField()
    label = serializers.ChoiceField(choices=["Simulated"])  # type: ignore[assignment]
    organization_name = serializers.CharField()
    system = serializers.CharField()
    ipus = serializers.IntegerField()
    model_name = serializers.CharField()
    value = serializers.FloatField()
    unit = serializers.CharField()
    interval = serializers.ListField(child=serializers.FloatField(), min_length=2, max_length=2, allow_null=True)
    global_batch = serializers.IntegerField()
    precision = serializers.CharField()
    engine_release = serializers.CharField()
    achieved_at = serializers.DateTimeField()
    job_id = serializers.UUIDField(allow_null=True, help_text="Only for those who may see the job.")


class PublishedRowSerializer(serializers.Serializer[Any]):
    """A result that others published, with its source; never ranked with simulated ones."""

    label = serializers.ChoiceField(choices=PublishedRow.Label.choices)  # type: ignore[assignment]
    source = serializers.CharField()  # type: ignore[assignment]
    round = serializers.CharField()
    division = serializers.CharField()
    system = serializers.CharField()
    chips = serializers.IntegerField(allow_null=True)
    model = serializers.CharField()
    framework = serializers.CharField()
    value = serializers.FloatField()
    unit = serializers.CharField()
    notes = serializers.CharField()


class BoardSerializer(serializers.Serializer[Any]):
    suite = SuiteSerializer()
    version = serializers.IntegerField()
    simulated = SimulatedRowSerializer(many=True)
    published = PublishedRowSerializer(many=True)


class SuitesView(PodiumView):
    public = ("GET",)

    @extend_schema(operation_id="suites_list", responses=SuiteSerializer(many=True), tags=["boards"])
    def get(self, request: Request) -> Response:
        return Response(SuiteSerializer(boards.suites(), many=True).data)


class BoardView(PodiumView):
    public = ("GET",)

    @extend_schema(operation_id="suites_board", responses=BoardSerializer, tags=["boards"])
    def get(self, request: Request, slug: str) -> Response:
        return Response(BoardSerializer(boards.board(slug, visitor=self.visitor)).data)


routes = [
    path("suites", SuitesView.as_view()),
    path("suites/<slug:slug>/board", BoardView.as_view()),
]
