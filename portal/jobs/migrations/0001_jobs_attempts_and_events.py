"""Jobs, attempts, checkpoints, events, artefacts and estimates behind row-level security; and the register of workers."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import TENANT, AppendOnly, CompositeForeignKey, EnableRLS, TenantTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_tenants"),
        ("credits", "0001_ledger"),
        ("pods", "0001_pods_and_occupancy"),
        ("registry", "0001_uploads_and_models"),
        ("reservations", "0001_reservations"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Estimate",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("key", models.CharField(max_length=64)),
                ("model_id", models.UUIDField(null=True)),
                ("zoo", models.CharField(blank=True, max_length=100)),
                ("config", models.JSONField()),
                (
                    "reserved",
                    models.BooleanField(default=False, help_text="on a reserved slice, where a run costs nothing more"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("ready", "Ready"), ("failed", "Failed")],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("estimate", models.JSONField(null=True)),
                ("error", models.JSONField(null=True)),
                ("engine_release", models.CharField(max_length=50)),
                ("asked_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(help_text="when a worker was last asked")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")), fields=["sent_at"], name="jobs_estimate_pending"
                    )
                ],
                "constraints": [models.UniqueConstraint(fields=("project_id", "key"), name="jobs_estimate_key")],
            },
        ),
        migrations.CreateModel(
            name="Job",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("number", models.PositiveIntegerField(help_text="1, 2, 3 ... within the project")),
                ("name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("model_id", models.UUIDField(null=True)),
                ("zoo", models.CharField(blank=True, max_length=100)),
                ("model_name", models.CharField(max_length=255)),
                ("model_sha256", models.CharField(blank=True, max_length=64)),
                ("task", models.CharField(max_length=10)),
                ("config", models.JSONField(help_text="complete settings, as the simulator reads them")),
                ("system", models.CharField(max_length=50)),
                ("ipus", models.PositiveIntegerField()),
                ("reservation_id", models.UUIDField(null=True)),
                (
                    "suite",
                    models.SlugField(blank=True, help_text="the board its owner agreed to publish on", max_length=100),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("allocating", "Allocating"),
                            ("compiling", "Compiling"),
                            ("running", "Running"),
                            ("cancelling", "Cancelling"),
                            ("succeeded", "Succeeded"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                            ("timed_out", "Timed Out"),
                        ],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("due_at", models.DateTimeField(help_text="not before this is it looked at again")),
                (
                    "waiting_for",
                    models.CharField(blank=True, help_text="why it is still queued, as a code", max_length=50),
                ),
                ("cancel_requested_at", models.DateTimeField(null=True)),
                (
                    "stop_code",
                    models.CharField(
                        blank=True, help_text="why it is being stopped, when nobody cancelled it", max_length=50
                    ),
                ),
                ("phase", models.JSONField(null=True)),
                ("progress", models.JSONField(null=True)),
                ("end_code", models.CharField(blank=True, max_length=100)),
                ("end_message", models.TextField(blank=True)),
                (
                    "end_fault",
                    models.CharField(
                        blank=True,
                        choices=[("user", "User"), ("platform", "Platform"), ("limit", "Limit"), ("none", "None")],
                        max_length=10,
                    ),
                ),
                ("end_params", models.JSONField(default=dict)),
                ("result", models.JSONField(null=True)),
                ("report_sha256", models.CharField(blank=True, max_length=64)),
                ("engine_release", models.CharField(blank=True, max_length=50)),
                ("attempts_made", models.PositiveSmallIntegerField(default=0)),
                ("seq", models.BigIntegerField(default=0)),
                ("fence", models.BigIntegerField(default=0)),
                ("batch", models.BigIntegerField(default=0)),
                ("hold_id", models.UUIDField(null=True)),
                ("held_microcredits", models.BigIntegerField(default=0)),
                ("captured_microcredits", models.BigIntegerField(default=0)),
                ("booking_id", models.UUIDField(help_text="its occupancy of the pod, when on demand", null=True)),
                ("wall_seconds", models.PositiveIntegerField(help_text="how long an attempt may take on the worker")),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "pod",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="pods.pod"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("attempt_number", models.PositiveSmallIntegerField()),
                ("step", models.PositiveIntegerField()),
                ("sha256", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField()),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="checkpoints",
                        to="jobs.job",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("number", models.PositiveSmallIntegerField()),
                ("fence", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("dispatched", "Dispatched"),
                            ("running", "Running"),
                            ("ended", "Ended"),
                            ("lost", "Lost"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="dispatched",
                        max_length=20,
                    ),
                ),
                ("worker_id", models.UUIDField(null=True)),
                ("dispatched_at", models.DateTimeField()),
                ("claimed_at", models.DateTimeField(null=True)),
                ("lease_until", models.DateTimeField(help_text="before it, the worker must have answered or renewed")),
                ("ended_at", models.DateTimeField(null=True)),
                ("isolation", models.CharField(blank=True, max_length=50)),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="jobs.job",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Artefact",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("name", models.CharField(max_length=100)),
                ("sha256", models.CharField(max_length=64)),
                ("bytes", models.BigIntegerField()),
                ("content_type", models.CharField(max_length=100)),
                ("created_at", models.DateTimeField()),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="artefacts",
                        to="jobs.job",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="JobEvent",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "job_id", "seq", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("seq", models.BigIntegerField()),
                ("org_id", models.UUIDField()),
                ("project_id", models.UUIDField()),
                ("kind", models.CharField(max_length=30)),
                ("version", models.PositiveSmallIntegerField(default=1)),
                ("attempt", models.PositiveSmallIntegerField()),
                ("time", models.DateTimeField()),
                ("data", models.JSONField()),
                (
                    "job",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="jobs.job",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("slots", models.PositiveSmallIntegerField()),
                ("started_at", models.DateTimeField()),
                ("heartbeat_at", models.DateTimeField()),
                ("draining", models.BooleanField(default=False)),
                ("engine_release", models.CharField(max_length=50)),
                ("isolation", models.CharField(max_length=50)),
            ],
            options={
                "indexes": [models.Index(fields=["heartbeat_at"], name="jobs_worker_heartbeat")],
            },
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["project_id", "-id"], name="jobs_job_by_project"),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(condition=models.Q(("state", "queued")), fields=["due_at"], name="jobs_job_due"),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(fields=("project_id", "number"), name="jobs_job_number_in_project"),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            "queued",
                            "allocating",
                            "compiling",
                            "running",
                            "cancelling",
                            "succeeded",
                            "failed",
                            "cancelled",
                            "timed_out",
                        ],
                    )
                ),
                name="jobs_job_state_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("state__in", ("succeeded", "failed", "cancelled", "timed_out")), ("ended_at__isnull", False)
                    ),
                    models.Q(
                        models.Q(("state__in", ("succeeded", "failed", "cancelled", "timed_out")), _negated=True),
                        ("ended_at__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="jobs_job_end_has_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("model_id__isnull", False), ("zoo", "")),
                    models.Q(("model_id__isnull", True), models.Q(("zoo", ""), _negated=True)),
                    _connector="OR",
                ),
                name="jobs_job_one_model",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("captured_microcredits__gte", 0), ("captured_microcredits__lte", models.F("held_microcredits"))
                ),
                name="jobs_job_captures_at_most_the_hold",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("reservation_id__isnull", False),
                    ("state__in", ["allocating", "compiling", "running", "cancelling"]),
                ),
                fields=("reservation_id",),
                name="jobs_job_one_in_a_slice",
            ),
        ),
        migrations.AddConstraint(
            model_name="checkpoint",
            constraint=models.UniqueConstraint(fields=("job", "step"), name="jobs_checkpoint_step"),
        ),
        migrations.AddIndex(
            model_name="attempt",
            index=models.Index(
                condition=models.Q(("state__in", ["dispatched", "running"])),
                fields=["lease_until"],
                name="jobs_attempt_leases",
            ),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(fields=("job", "number"), name="jobs_attempt_number"),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state__in", ["dispatched", "running"])),
                fields=("job",),
                name="jobs_attempt_one_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="artefact",
            constraint=models.UniqueConstraint(fields=("job", "name"), name="jobs_artefact_name"),
        ),
        TenantTable("jobs_job"),
        CompositeForeignKey("jobs_job", "model_id", "registry_model"),
        CompositeForeignKey("jobs_job", "reservation_id", "reservations_reservation"),
        CompositeForeignKey("jobs_job", "hold_id", "credits_hold"),
        *[
            operation
            for table in ("jobs_attempt", "jobs_checkpoint", "jobs_artefact")
            for operation in (TenantTable(table), CompositeForeignKey(table, "job_id", "jobs_job"))
        ],
        TenantTable("jobs_estimate"),
        CompositeForeignKey("jobs_estimate", "model_id", "registry_model"),
        EnableRLS("jobs_jobevent", TENANT),
        CompositeForeignKey("jobs_jobevent", "job_id", "jobs_job"),
        migrations.RunSQL(
            "ALTER TABLE jobs_jobevent ADD CONSTRAINT jobs_jobevent_is_small CHECK (octet_length(data::text) <= 16384)",
            "ALTER TABLE jobs_jobevent DROP CONSTRAINT jobs_jobevent_is_small",
        ),
        AppendOnly("jobs_jobevent"),
        EnableRLS("jobs_worker", "false"),
    ]
