"""Use of slots, when a job entered its state, whose turn it was, and attempts that are given back."""

import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import EnableRLS


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_find_files_by_hash"),
        ("pods", "0001_pods_and_occupancy"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Usage",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField()),
                ("user_id", models.UUIDField()),
                ("slot_seconds", models.FloatField()),
                ("as_of", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="attempt",
            name="hand_back",
            field=models.CharField(blank=True, help_text="why its worker is asked to give it back", max_length=10),
        ),
        migrations.AddField(
            model_name="job",
            name="asked_release",
            field=models.CharField(blank=True, help_text="the engine it was estimated and asked with", max_length=50),
        ),
        migrations.AddField(
            model_name="job",
            name="state_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now(),
                help_text="when it entered its state; deadlines count from here",
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="turns",
            field=models.PositiveSmallIntegerField(default=0, help_text="how often it gave its slot to others"),
        ),
        migrations.AlterField(
            model_name="attempt",
            name="state",
            field=models.CharField(
                choices=[
                    ("dispatched", "Dispatched"),
                    ("running", "Running"),
                    ("ended", "Ended"),
                    ("lost", "Lost"),
                    ("withdrawn", "Withdrawn"),
                    ("handed_back", "Handed Back"),
                ],
                default="dispatched",
                max_length=20,
            ),
        ),
        migrations.AddIndex(
            model_name="attempt",
            index=models.Index(
                condition=models.Q(("state", "ended")), fields=["-ended_at"], name="jobs_attempt_recent"
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("state__in", ["queued", "allocating", "compiling", "running", "cancelling"])),
                fields=["state", "state_at"],
                name="jobs_job_open",
            ),
        ),
        migrations.AddConstraint(
            model_name="usage",
            constraint=models.UniqueConstraint(fields=("org_id", "user_id"), name="jobs_usage_once"),
        ),
        EnableRLS("jobs_usage", "false"),
    ]
