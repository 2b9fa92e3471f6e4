"""Facts about jobs: the request, each try at it, its events and artefacts; estimates; and the workers that are alive.

Rows change only through `services` (people), `attempts` (workers) and `scheduling` (the ticker).
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from portal.jobs.states import TERMINAL, AttemptState, Fault, JobState
from portal.tenancy.tables import SystemModel, TableClass, TenantModel, TenantQuerySet


class Job(TenantModel):
    """One request to train a model or to run inference on it.

    `seq` is the number of its last event and `fence` that of the attempt that may write; both only grow. `batch` counts
    the batches of the present attempt, so that a repeated one is told from a new one.
    """

    State = JobState

    number = models.PositiveIntegerField(help_text="1, 2, 3 ... within the project")
    name = models.CharField(max_length=200)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    model_id = models.UUIDField(null=True)
    zoo = models.CharField(max_length=100, blank=True)
    model_name = models.CharField(max_length=255)
    model_sha256 = models.CharField(max_length=64, blank=True)
    task = models.CharField(max_length=10)
    config = models.JSONField(help_text="complete settings, as the simulator reads them")
    system = models.CharField(max_length=50)
    ipus = models.PositiveIntegerField()
    pod = models.ForeignKey("pods.Pod", on_delete=models.PROTECT, related_name="+")
    reservation_id = models.UUIDField(null=True)
    suite = models.SlugField(max_length=100, blank=True, help_text="the board its owner agreed to publish on")

    state = models.CharField(max_length=20, choices=JobState, default=JobState.QUEUED)
    state_at = models.DateTimeField(db_default=Now(), help_text="when it entered its state; deadlines count from here")
    turns = models.PositiveSmallIntegerField(default=0, help_text="how often it gave its slot to others")
    due_at = models.DateTimeField(help_text="not before this is it looked at again")
    waiting_for = models.CharField(max_length=50, blank=True, help_text="why it is still queued, as a code")
    cancel_requested_at = models.DateTimeField(null=True)
    stop_code = models.CharField(
        max_length=50, blank=True, help_text="why it is being stopped, when nobody cancelled it"
    )
    phase = models.JSONField(null=True)
    progress = models.JSONField(null=True)
    end_code = models.CharField(max_length=100, blank=True)
    end_message = models.TextField(blank=True)
    end_fault = models.CharField(max_length=10, choices=Fault, blank=True)
    end_params = models.JSONField(default=dict)
    result = models.JSONField(null=True)
    report_sha256 = models.CharField(max_length=64, blank=True)
    engine_release = models.CharField(max_length=50, blank=True)
    asked_release = models.CharField(max_length=50, blank=True, help_text="the engine it was estimated and asked with")

    attempts_made = models.PositiveSmallIntegerField(default=0)
    seq = models.BigIntegerField(default=0)
    fence = models.BigIntegerField(default=0)
    batch = models.BigIntegerField(default=0)

    hold_id = models.UUIDField(null=True)
    held_microcredits = models.BigIntegerField(default=0)
    captured_microcredits = models.BigIntegerField(default=0)
    booking_id = models.UUIDField(null=True, help_text="its occupancy of the pod, when on demand")
    wall_seconds = models.PositiveIntegerField(help_text="how long an attempt may take on the worker")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project_id", "number"], name="jobs_job_number_in_project"),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="jobs_job_state_known"),
            models.CheckConstraint(
                condition=(Q(state__in=TERMINAL) & Q(ended_at__isnull=False))
                | (~Q(state__in=TERMINAL) & Q(ended_at__isnull=True)),
                name="jobs_job_end_has_time",
            ),
            models.CheckConstraint(
                condition=Q(model_id__isnull=False, zoo="") | (Q(model_id__isnull=True) & ~Q(zoo="")),
                name="jobs_job_one_model",
            ),
            models.CheckConstraint(
                condition=Q(captured_microcredits__gte=0, captured_microcredits__lte=F("held_microcredits")),
                name="jobs_job_captures_at_most_the_hold",
            ),
            # a slice runs one job at a time
            models.UniqueConstraint(
                fields=["reservation_id"],
                condition=Q(
                    state__in=["allocating", "compiling", "running", "cancelling"], reservation_id__isnull=False
                ),
                name="jobs_job_one_in_a_slice",
            ),
        ]
        indexes = [
            models.Index(fields=["project_id", "-id"], name="jobs_job_by_project"),
            models.Index(fields=["due_at"], condition=Q(state="queued"), name="jobs_job_due"),
            models.Index(
                fields=["state", "state_at"],
                condition=Q(state__in=["queued", "allocating", "compiling", "running", "cancelling"]),
                name="jobs_job_open",
            ),
        ]


class Attempt(TenantModel):
    """One try at a job, by one worker under one lease. Times of the lease are the database's."""

    State = AttemptState

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="attempts", db_constraint=False)
    number = models.PositiveSmallIntegerField()
    fence = models.BigIntegerField()
    state = models.CharField(max_length=20, choices=AttemptState, default=AttemptState.DISPATCHED)
    worker_id = models.UUIDField(null=True)
    dispatched_at = models.DateTimeField()
    claimed_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(help_text="before it, the worker must have answered or renewed")
    ended_at = models.DateTimeField(null=True)
    isolation = models.CharField(max_length=50, blank=True)
    hand_back = models.CharField(max_length=10, blank=True, help_text="why its worker is asked to give it back")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "number"], name="jobs_attempt_number"),
            models.UniqueConstraint(
                fields=["job"], condition=Q(state__in=["dispatched", "running"]), name="jobs_attempt_one_open"
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_until"], condition=Q(state__in=["dispatched", "running"]), name="jobs_attempt_leases"
            ),
            models.Index(fields=["-ended_at"], condition=Q(state="ended"), name="jobs_attempt_recent"),
        ]


class Checkpoint(TenantModel):
    """Where a training run can go on from: the newest one counts."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="checkpoints", db_constraint=False)
    attempt_number = models.PositiveSmallIntegerField()
    step = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "step"], name="jobs_checkpoint_step")]
        indexes = [models.Index(fields=["sha256"], name="jobs_checkpoint_file")]


class JobEvent(models.Model):
    """One row of a job's story. Append-only; `seq` has no gap."""

    table_class = TableClass.TENANT
    VERSION = 1
    KINDS = ("state", "attempt_started", "phase", "log", "metrics", "progress", "report", "ended")

    pk = models.CompositePrimaryKey("job_id", "seq")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="events", db_constraint=False)
    seq = models.BigIntegerField()
    org_id = models.UUIDField()
    project_id = models.UUIDField()
    kind = models.CharField(max_length=30)
    version = models.PositiveSmallIntegerField(default=VERSION)
    attempt = models.PositiveSmallIntegerField()
    time = models.DateTimeField()
    data = models.JSONField()

    objects = TenantQuerySet.as_manager()


class Artefact(TenantModel):
    """A file that a job made, by its content."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="artefacts", db_constraint=False)
    name = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64)
    bytes = models.BigIntegerField()
    content_type = models.CharField(max_length=100)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "name"], name="jobs_artefact_name")]
        indexes = [models.Index(fields=["sha256"], name="jobs_artefact_file")]


class Estimate(TenantModel):
    """What a run would take, asked before it is paid for. Equal questions of a project share one row."""

    class State(models.TextChoices):
        """PENDING until a worker has answered."""

        PENDING = "pending"
        READY = "ready"
        FAILED = "failed"

    key = models.CharField(max_length=64)
    model_id = models.UUIDField(null=True)
    zoo = models.CharField(max_length=100, blank=True)
    config = models.JSONField()
    reserved = models.BooleanField(default=False, help_text="on a reserved slice, where a run costs nothing more")
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    estimate = models.JSONField(null=True)
    error = models.JSONField(null=True)
    engine_release = models.CharField(max_length=50)
    asked_at = models.DateTimeField()
    sent_at = models.DateTimeField(help_text="when a worker was last asked")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project_id", "key"], name="jobs_estimate_key")]
        indexes = [models.Index(fields=["sent_at"], condition=Q(state="pending"), name="jobs_estimate_pending")]


class Worker(SystemModel):
    """A worker process that says it is alive. `slots` is how many attempts it runs at once."""

    name = models.CharField(max_length=200)
    slots = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField()
    heartbeat_at = models.DateTimeField()
    draining = models.BooleanField(default=False)
    engine_release = models.CharField(max_length=50)
    isolation = models.CharField(max_length=50)

    class Meta:
        indexes = [models.Index(fields=["heartbeat_at"], name="jobs_worker_heartbeat")]


class Usage(SystemModel):
    """Seconds of worker slots that a person has used for an organization, worth half after each half-life.

    `slot_seconds` is what they were worth at `as_of`.
    """

    org_id = models.UUIDField()
    user_id = models.UUIDField()
    slot_seconds = models.FloatField()
    as_of = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["org_id", "user_id"], name="jobs_usage_once")]
