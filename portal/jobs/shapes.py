"""How jobs, their events and files look over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from portal.http.fields import PersonSerializer
from portal.jobs.models import Artefact, Job, JobEvent
from portal.jobs.states import TERMINAL, Fault, JobState


class ConfigField(serializers.DictField):
    """Settings of a run; the simulator says which there are and what they may be."""


class CreateJobSerializer(serializers.Serializer[Any]):
    """`model` is the id of an accepted model or a zoo: name. Without `reservation_id` the run is on demand."""

    model = serializers.CharField(max_length=100)
    config = ConfigField()
    name = serializers.CharField(max_length=200, required=False, allow_blank=True)
    reservation_id = serializers.UUIDField(required=False, allow_null=True)
    suite = serializers.SlugField(
        max_length=100, required=False, allow_null=True, allow_blank=True, help_text="Publish the result on this board."
    )
    project_id = serializers.UUIDField(required=False, allow_null=True)


class JobModelSerializer(serializers.Serializer[Any]):
    """What is run: an upload (id) or a model of the zoo."""

    id = serializers.UUIDField(source="model_id", allow_null=True)
    zoo = serializers.SerializerMethodField()
    name = serializers.CharField(source="model_name")
    sha256 = serializers.CharField(source="model_sha256")

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_zoo(self, job: Job) -> str | None:
        return job.zoo or None


class PhaseSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    fraction = serializers.FloatField()


class ProgressSerializer(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    total = serializers.IntegerField()


class EndSerializer(serializers.Serializer[Any]):
    """How it ended and whose doing that was."""

    code = serializers.CharField(source="end_code")
    message = serializers.CharField(source="end_message")
    fault = serializers.ChoiceField(choices=Fault.choices, source="end_fault")
    params = serializers.DictField(source="end_params")


class ResultSerializer(serializers.Serializer[Any]):
    """Simulated figures, and the loss of the real arithmetic."""

    step_seconds = serializers.FloatField()
    samples_per_second = serializers.FloatField()
    latency_seconds = serializers.FloatField(allow_null=True)
    final_loss = serializers.FloatField(allow_null=True)
    fits = serializers.BooleanField()
    simulated_seconds = serializers.FloatField()
    global_batch = serializers.IntegerField()


class JobPriceSerializer(serializers.Serializer[Any]):
    held_microcredits = serializers.IntegerField()
    captured_microcredits = serializers.IntegerField()


class JobSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    number = serializers.IntegerField()
    name = serializers.CharField()
    project_id = serializers.UUIDField()
    model = JobModelSerializer(source="*")
    task = serializers.ChoiceField(choices=["train", "infer"])
    config = ConfigField()
    system = serializers.CharField()
    ipus = serializers.IntegerField()
    reservation_id = serializers.UUIDField(allow_null=True)
    suite = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=JobState.choices)
    waiting_for = serializers.CharField(help_text="While queued: a code that says why.")
    phase = PhaseSerializer(allow_null=True)
    progress = ProgressSerializer(allow_null=True)
    end = serializers.SerializerMethodField()
    result = ResultSerializer(allow_null=True)
    attempt = serializers.IntegerField(source="attempts_made")
    last_seq = serializers.IntegerField(source="seq")
    price = JobPriceSerializer(source="*")
    engine_release = serializers.CharField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)
    created_by = PersonSerializer()

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_suite(self, job: Job) -> str | None:
        return job.suite or None

    @extend_schema_field(EndSerializer(allow_null=True))
    def get_end(self, job: Job) -> dict[str, Any] | None:
        return dict(EndSerializer(job).data) if job.state in TERMINAL else None


class EventSerializer(serializers.Serializer[Any]):
    seq = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=JobEvent.KINDS)
    attempt = serializers.IntegerField()
    time = serializers.DateTimeField()
    data = serializers.DictField(help_text="Its shape depends on the kind.")  # type: ignore[assignment]


class EventsSerializer(serializers.Serializer[Any]):
    results = EventSerializer(many=True)
    last_seq = serializers.IntegerField()


class ArtefactSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()
    content_type = serializers.CharField()
    url = serializers.SerializerMethodField()

    def get_url(self, row: Artefact) -> str:
        return f"/api/v1/jobs/{row.job_id}/artefacts/{row.id}/file"
