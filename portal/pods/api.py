"""Systems, pods and their occupancy over HTTP."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

import simulator
from portal.errors import NotFound, PodiumError
from portal.http.fields import AwareDateTimeField
from portal.http.views import PodiumView
from portal.pods.models import Occupancy, Pod
from portal.pods.owners import own
from portal.pods.prices import microcredits_per_ipu_hour
from portal.tenancy import Actor

LONGEST_LOOK = timedelta(days=62)


class SystemSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    chip = serializers.CharField()
    ipus = serializers.IntegerField()
    machines = serializers.IntegerField()
    tiles_per_ipu = serializers.IntegerField()
    bytes_per_tile = serializers.IntegerField()
    clock_hz = serializers.FloatField()
    allowed_sizes = serializers.ListField(child=serializers.IntegerField(), help_text="IPUs a slice may have.")
    link_domains = serializers.IntegerField()
    microcredits_per_ipu_hour = serializers.IntegerField()
    reservable = serializers.BooleanField(help_text="There is a shared pod of it, so jobs and slices can have it.")
    sources = serializers.ListField(child=serializers.CharField())


class PodSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    system = serializers.CharField()
    ipus = serializers.IntegerField()


class OccupancySerializer(serializers.Serializer[Any]):
    ipu_start = serializers.IntegerField()
    ipus = serializers.IntegerField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    kind = serializers.ChoiceField(choices=Occupancy.Kind.choices)
    mine = serializers.BooleanField()
    reservation_id = serializers.UUIDField(allow_null=True)
    job_id = serializers.UUIDField(allow_null=True)


class OccupancyQuery(serializers.Serializer[Any]):
    """`from` and `to` are reserved words or shadow them, hence the mapping."""

    def get_fields(self) -> dict[str, Any]:
        return {
            "from": AwareDateTimeField(required=False, help_text="From this instant (now)."),
            "to": AwareDateTimeField(required=False, help_text="Until this instant (a week later)."),
        }


class SystemsView(PodiumView):
    """Systems that can be simulated, with their prices."""

    public = ("GET",)

    @extend_schema(operation_id="systems_list", responses=SystemSerializer(many=True), tags=["pods"])
    def get(self, request: Request) -> Response:
        pods = set(Pod.objects.values_list("system", flat=True))
        rows = [
            {
                **facts,
                "microcredits_per_ipu_hour": microcredits_per_ipu_hour(facts["id"]),
                "reservable": facts["id"] in pods,
            }
            for facts in (system.to_dict() for system in simulator.systems())
        ]
        return Response(SystemSerializer(rows, many=True).data)


class PodsView(PodiumView):
    """Shared pods, smallest first."""

    scopes = {"GET": "pods:read"}

    @extend_schema(operation_id="pods_list", responses=PodSerializer(many=True), tags=["pods"])
    def get(self, request: Request) -> Response:
        return Response(PodSerializer(Pod.objects.order_by("ipus", "slug"), many=True).data)


class OccupancyView(PodiumView):
    """Which IPUs are taken when. Other people's rows have no owner."""

    scopes = {"GET": "pods:read"}

    @extend_schema(
        operation_id="pods_occupancy_list",
        parameters=[OccupancyQuery],
        responses=OccupancySerializer(many=True),
        tags=["pods"],
    )
    def get(self, request: Request, pod_id: UUID) -> Response:
        if not Pod.objects.filter(id=pod_id).exists():
            raise NotFound
        given = self.query(OccupancyQuery)
        begin = given.get("from") or timezone.now()
        end = given.get("to") or begin + timedelta(days=7)
        if not begin < end <= begin + LONGEST_LOOK:
            raise PodiumError(
                "request.invalid_window", "Ask for a window of up to 62 days that ends after it begins.", status=422
            )
        rows = Occupancy.objects.filter(pod_id=pod_id, during__overlap=DateTimeTZRange(begin, end))
        return Response(OccupancySerializer(_shaped(self.actor, list(rows.order_by("during"))), many=True).data)


def _shaped(actor: Actor, rows: list[Occupancy]) -> list[dict[str, Any]]:
    mine = {kind: own(actor, kind, [row.id for row in rows if row.kind == kind]) for kind in ("reservation", "job")}
    return [
        {
            "ipu_start": row.ipu_range.lower,
            "ipus": row.ipu_range.upper - row.ipu_range.lower,
            "starts_at": row.during.lower,
            "ends_at": row.during.upper,
            "kind": row.kind,
            "mine": any(row.id in found for found in mine.values()),
            "reservation_id": mine["reservation"].get(row.id),
            "job_id": mine["job"].get(row.id),
        }
        for row in rows
    ]


routes = [
    path("systems", SystemsView.as_view()),
    path("pods", PodsView.as_view()),
    path("pods/<uuid:pod_id>/occupancy", OccupancyView.as_view()),
]
