"""Jobs over HTTP: the list, one job, cancelling, running again, its events, report and files."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from portal import storage
from portal.errors import NotFound, PodiumError
from portal.http.fields import ProjectPageQuery, page_of
from portal.http.files import download
from portal.http.idempotency import idempotent
from portal.http.pagination import page
from portal.http.views import PodiumView
from portal.jobs import estimate_api, services, story, waiting_api
from portal.jobs.models import Artefact, Job
from portal.jobs.shapes import ArtefactSerializer, CreateJobSerializer, EventsSerializer, JobSerializer
from portal.jobs.states import JobState


class JobsQuery(ProjectPageQuery):
    """`state` narrows to one state."""

    state = serializers.ChoiceField(choices=JobState.choices, required=False)


class EventsQuery(serializers.Serializer[Any]):
    """A cursor: events after this number."""

    after = serializers.IntegerField(required=False, default=0, min_value=0)
    limit = serializers.IntegerField(required=False, default=500, min_value=1, max_value=1000)


class JobsView(PodiumView):
    """Jobs, newest first."""

    scopes = {"GET": "jobs:read", "POST": "jobs:write"}

    @extend_schema(operation_id="jobs_list", parameters=[JobsQuery], responses=page_of(JobSerializer), tags=["jobs"])
    def get(self, request: Request) -> Response:
        given = self.query(JobsQuery)
        wanted = {name: given[name] for name in ("project_id", "state") if given.get(name)}
        rows = Job.objects.visible_to(self.actor).filter(**wanted).select_related("created_by")
        return page(request, rows, lambda row: JobSerializer(row).data)

    @extend_schema(
        operation_id="jobs_create", request=CreateJobSerializer, responses={201: JobSerializer}, tags=["jobs"]
    )
    @idempotent
    def post(self, request: Request) -> Response:
        given = self.body(CreateJobSerializer)
        job = services.submit(
            actor=self.actor,
            model=given["model"],
            config=given["config"],
            name=given.get("name") or "",
            project_id=given.get("project_id"),
            reservation_id=given.get("reservation_id"),
            suite=given.get("suite") or "",
        )
        return Response(JobSerializer(job).data, status=status.HTTP_201_CREATED)


class JobView(PodiumView):
    scopes = {"GET": "jobs:read"}

    @extend_schema(operation_id="jobs_retrieve", responses=JobSerializer, tags=["jobs"])
    def get(self, request: Request, job_id: UUID) -> Response:
        return Response(JobSerializer(_found(self, job_id)).data)


class CancelView(PodiumView):
    """Cancelling works in every state; a job that has ended is answered as it is."""

    scopes = {"POST": "jobs:write"}

    @extend_schema(operation_id="jobs_cancel", request=None, responses=JobSerializer, tags=["jobs"])
    def post(self, request: Request, job_id: UUID) -> Response:
        return Response(JobSerializer(services.cancel(actor=self.actor, job_id=job_id)).data)


class RerunView(PodiumView):
    scopes = {"POST": "jobs:write"}

    @extend_schema(operation_id="jobs_rerun", request=None, responses={201: JobSerializer}, tags=["jobs"])
    @idempotent
    def post(self, request: Request, job_id: UUID) -> Response:
        job = services.rerun(actor=self.actor, job_id=job_id)
        return Response(JobSerializer(job).data, status=status.HTTP_201_CREATED)


class EventsView(PodiumView):
    """The story of a job after a number, oldest first; `last_seq` is the number of its newest event."""

    scopes = {"GET": "jobs:read"}

    @extend_schema(operation_id="jobs_events", parameters=[EventsQuery], responses=EventsSerializer, tags=["jobs"])
    def get(self, request: Request, job_id: UUID) -> Response:
        given = self.query(EventsQuery)
        job = _found(self, job_id)
        events = story.read(job.id, after=given["after"], limit=given["limit"])
        return Response({"results": events, "last_seq": job.seq})


class ReportView(PodiumView):
    """The simulator's report as it was made."""

    scopes = {"GET": "jobs:read"}

    @extend_schema(operation_id="jobs_report", responses=OpenApiTypes.OBJECT, tags=["jobs"])
    def get(self, request: Request, job_id: UUID) -> Response:
        job = _found(self, job_id)
        if not job.report_sha256:
            raise PodiumError("report.not_ready", "The simulator has not reported on this job yet.", status=404)
        with storage.open(job.report_sha256) as file:
            return Response(json.load(file))


class ArtefactsView(PodiumView):
    scopes = {"GET": "jobs:read"}

    @extend_schema(operation_id="jobs_artefacts", responses=ArtefactSerializer(many=True), tags=["jobs"])
    def get(self, request: Request, job_id: UUID) -> Response:
        rows = Artefact.objects.visible_to(self.actor).filter(job=_found(self, job_id)).order_by("name")
        return Response(ArtefactSerializer(rows, many=True).data)


class ArtefactFileView(PodiumView):
    scopes = {"GET": "jobs:read"}

    @extend_schema(
        operation_id="jobs_artefact_file",
        responses={(200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY)},
        tags=["jobs"],
    )
    def get(self, request: Request, job_id: UUID, artefact_id: UUID) -> StreamingHttpResponse:
        row = Artefact.objects.visible_to(self.actor).filter(job=_found(self, job_id), id=artefact_id).first()
        if row is None:
            raise NotFound
        return download(storage.path(row.sha256), name=row.name)


def _found(view: PodiumView, job_id: UUID) -> Job:
    row = Job.objects.visible_to(view.actor).filter(id=job_id).select_related("created_by").first()
    if row is None:
        raise NotFound
    return row


routes = [
    *estimate_api.routes,
    *waiting_api.routes,
    path("jobs", JobsView.as_view()),
    path("jobs/<uuid:job_id>", JobView.as_view()),
    path("jobs/<uuid:job_id>/cancel", CancelView.as_view()),
    path("jobs/<uuid:job_id>/rerun", RerunView.as_view()),
    path("jobs/<uuid:job_id>/events", EventsView.as_view()),
    path("jobs/<uuid:job_id>/report", ReportView.as_view()),
    path("jobs/<uuid:job_id>/artefacts", ArtefactsView.as_view()),
    path("jobs/<uuid:job_id>/artefacts/<uuid:artefact_id>/file", ArtefactFileView.as_view()),
]
