"""Over HTTP: why a job waits, who used how much of the workers, and for operators the workers and their draining."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal import tenancy
from portal.accounts.models import User
from portal.audit import services as audit
from portal.errors import NotFound
from portal.http.views import PodiumView
from portal.jobs import fairness, waiting, workers
from portal.jobs.models import Job, Worker
from portal.organizations.access import require
from portal.organizations.models import Organization
from portal.tenancy import Role


class StartSerializer(serializers.Serializer[Any]):
    """An expectation, not a promise."""

    at = serializers.DateTimeField()
    earliest = serializers.DateTimeField()
    latest = serializers.DateTimeField()
    runs = serializers.IntegerField(help_text="How many recent runs it was made from; 0 for a time that is fixed.")


class WhySerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    sentence = serializers.CharField()
    params = serializers.DictField()
    place = serializers.IntegerField(allow_null=True, help_text="From 1, among all that wait for a worker.")
    waiting = serializers.IntegerField(allow_null=True)
    start = StartSerializer(allow_null=True)


class ShareSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="Of the organization, or of the person within one.")
    name = serializers.CharField()
    slot_seconds = serializers.FloatField(help_text="Use of workers, worth half after each half-life.")
    running = serializers.IntegerField()
    share = serializers.FloatField()
    aims_at = serializers.FloatField()


class WorkerSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    slots = serializers.IntegerField()
    draining = serializers.BooleanField()
    engine_release = serializers.CharField()
    isolation = serializers.CharField()
    started_at = serializers.DateTimeField()
    heartbeat_at = serializers.DateTimeField()


class DrainSerializer(serializers.Serializer[Any]):
    """True: no new jobs, and those that run are saved and handed back. False: take jobs again."""

    draining = serializers.BooleanField()


class WhyView(PodiumView):
    """The rule that a job waits for, in one sentence, with its place and when it may start."""

    scopes = {"GET": "jobs:read"}

    @extend_schema(operation_id="jobs_why", responses=WhySerializer, tags=["jobs"])
    def get(self, request: Request, job_id: UUID) -> Response:
        job = Job.objects.visible_to(self.actor).filter(id=job_id).first()
        if job is None:
            raise NotFound
        return Response(WhySerializer(waiting.why(job)).data)


class OrganizationShareView(PodiumView):
    """The people of an organization: what they used of the workers beside the share that each aims at."""

    scopes = {"GET": "organizations:read"}

    @extend_schema(operation_id="organizations_share", responses=ShareSerializer(many=True), tags=["organizations"])
    def get(self, request: Request, org_id: UUID) -> Response:
        require(self.actor, org_id, Role.MEMBER)
        with tenancy.context(role="system"):
            shares = fairness.shares_within(fairness.standing(), org_id)
            names = dict(User.objects.filter(id__in=[share.user_id for share in shares]).values_list("id", "name"))
        return Response([_shown(share, share.user_id, names) for share in shares])


class SharesView(PodiumView):
    """Every organization's use of the workers beside the share it aims at; for operators, in person."""

    session_only = ("GET",)

    @extend_schema(operation_id="shares_list", responses=ShareSerializer(many=True), tags=["operation"])
    def get(self, request: Request) -> Response:
        _operators_only(self)
        with tenancy.context(role="system"):
            shares = fairness.shares(fairness.standing())
            rows = Organization.objects.filter(id__in=[share.org_id for share in shares])
            names = dict(rows.values_list("id", "name"))
        return Response([_shown(share, share.org_id, names) for share in shares])


class WorkersView(PodiumView):
    """The workers that were heard of in the last day; POST drains all live ones, or lets them take jobs again."""

    session_only = ("GET", "POST")

    @extend_schema(operation_id="workers_list", responses=WorkerSerializer(many=True), tags=["operation"])
    def get(self, request: Request) -> Response:
        _operators_only(self)
        return Response(_workers())

    @extend_schema(
        operation_id="workers_drain", request=DrainSerializer, responses=WorkerSerializer(many=True), tags=["operation"]
    )
    def post(self, request: Request) -> Response:
        _operators_only(self)
        draining = self.body(DrainSerializer)["draining"]
        workers.drain(draining=draining)
        action = "workers.drained" if draining else "workers.resumed"
        audit.record(action, actor=self.actor)
        return Response(_workers())


def _workers() -> list[dict[str, Any]]:
    with tenancy.context(role="system"):
        return list(WorkerSerializer(Worker.objects.order_by("-heartbeat_at")[:100], many=True).data)


def _operators_only(view: PodiumView) -> None:
    if not view.actor.is_operator:
        raise NotFound


def _shown(share: fairness.Share, row_id: UUID | None, names: dict[UUID, str]) -> dict[str, Any]:
    name = names.get(row_id, "") if row_id else ""
    return {
        "id": str(row_id), "name": name, "slot_seconds": share.slot_seconds, "running": share.running,
        "share": share.share, "aims_at": share.aims_at,
    }  # fmt: skip


routes = [
    path("jobs/<uuid:job_id>/why", WhyView.as_view()),
    path("organizations/<uuid:org_id>/share", OrganizationShareView.as_view()),
    path("shares", SharesView.as_view()),
    path("workers", WorkersView.as_view()),
]
