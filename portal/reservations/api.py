"""Reservations over HTTP."""

from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal.errors import NotFound
from portal.http.fields import AwareDateTimeField, PersonSerializer, ProjectPageQuery, page_of
from portal.http.idempotency import idempotent
from portal.http.pagination import page
from portal.http.views import PodiumView
from portal.reservations import services
from portal.reservations.models import Reservation

STATES = ("booked", "active", "ended", "cancelled")


class ReservedPodSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    system = serializers.CharField()


class ReservationSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    project_id = serializers.UUIDField()
    pod = ReservedPodSerializer()
    ipu_start = serializers.IntegerField()
    ipus = serializers.IntegerField()
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()
    zone = serializers.CharField(help_text="IANA zone in which the times were meant.")
    state = serializers.SerializerMethodField()
    price_microcredits = serializers.IntegerField()
    created_by = PersonSerializer()
    created_at = serializers.DateTimeField()

    @extend_schema_field(serializers.ChoiceField(choices=STATES))
    def get_state(self, row: Reservation) -> str:
        return row.state_at(timezone.now())


class CreateReservationSerializer(serializers.Serializer[Any]):
    pod_id = serializers.UUIDField()
    ipus = serializers.IntegerField(min_value=1)
    starts_at = AwareDateTimeField()
    ends_at = AwareDateTimeField()
    zone = serializers.CharField(max_length=60, help_text="IANA name, as in Europe/London.")
    project_id = serializers.UUIDField(required=False, allow_null=True)
    ipu_start = serializers.IntegerField(required=False, allow_null=True, min_value=0)

    def validate_zone(self, zone: str) -> str:
        if zone not in available_timezones():
            raise serializers.ValidationError("There is no such time zone: use an IANA name, as in Europe/London.")
        return zone


class ReservationsQuery(ProjectPageQuery):
    """`pod_id`, and the window [from, to) that a slice must touch."""

    pod_id = serializers.UUIDField(required=False)

    def get_fields(self) -> dict[str, Any]:
        return {
            **super().get_fields(),
            "from": AwareDateTimeField(required=False, help_text="Slices that end after this instant."),
            "to": AwareDateTimeField(required=False, help_text="Slices that begin before this instant."),
        }


class ReservationsView(PodiumView):
    scopes = {"GET": "reservations:read", "POST": "reservations:write"}

    @extend_schema(
        operation_id="reservations_list",
        parameters=[ReservationsQuery],
        responses=page_of(ReservationSerializer),
        tags=["reservations"],
    )
    def get(self, request: Request) -> Response:
        given = self.query(ReservationsQuery)
        wanted = {
            column: given[name]
            for name, column in (
                ("project_id", "project_id"),
                ("pod_id", "pod_id"),
                ("from", "ends_at__gt"),
                ("to", "starts_at__lt"),
            )
            if given.get(name)
        }
        rows = Reservation.objects.visible_to(self.actor).filter(**wanted).select_related("pod", "created_by")
        return page(request, rows, lambda row: ReservationSerializer(row).data)

    @extend_schema(
        operation_id="reservations_create",
        request=CreateReservationSerializer,
        responses={201: ReservationSerializer},
        tags=["reservations"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        given = self.body(CreateReservationSerializer)
        row = services.reserve(
            actor=self.actor,
            pod_id=given["pod_id"],
            ipus=given["ipus"],
            starts_at=given["starts_at"],
            ends_at=given["ends_at"],
            zone=given["zone"],
            project_id=given.get("project_id"),
            ipu_start=given.get("ipu_start"),
        )
        return Response(ReservationSerializer(row).data, status=status.HTTP_201_CREATED)


class ReservationView(PodiumView):
    scopes = {"GET": "reservations:read", "DELETE": "reservations:write"}

    @extend_schema(operation_id="reservations_retrieve", responses=ReservationSerializer, tags=["reservations"])
    def get(self, request: Request, reservation_id: UUID) -> Response:
        rows = Reservation.objects.visible_to(self.actor).select_related("pod", "created_by")
        row = rows.filter(id=reservation_id).first()
        if row is None:
            raise NotFound
        return Response(ReservationSerializer(row).data)

    @extend_schema(operation_id="reservations_cancel", responses=ReservationSerializer, tags=["reservations"])
    def delete(self, request: Request, reservation_id: UUID) -> Response:
        row = services.cancel(actor=self.actor, reservation_id=reservation_id)
        return Response(ReservationSerializer(row).data)


routes = [
    path("reservations", ReservationsView.as_view()),
    path("reservations/<uuid:reservation_id>", ReservationView.as_view()),
]
