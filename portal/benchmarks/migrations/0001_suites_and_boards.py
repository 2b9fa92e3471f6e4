"""Suites, published rows and simulated entries: read by everybody, written by the system role alone."""

from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import app_role


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="BoardEntry",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("suite_slug", models.SlugField(max_length=100)),
                ("suite_version", models.PositiveSmallIntegerField()),
                ("job_id", models.UUIDField(unique=True)),
                ("org_id", models.UUIDField()),
                ("fingerprint", models.CharField(max_length=64)),
                ("organization_name", models.CharField(max_length=200)),
                ("system", models.CharField(max_length=50)),
                ("ipus", models.PositiveIntegerField()),
                ("model_name", models.CharField(max_length=255)),
                ("value", models.FloatField()),
                ("unit", models.CharField(max_length=30)),
                ("low", models.FloatField(null=True)),
                ("high", models.FloatField(null=True)),
                ("global_batch", models.PositiveIntegerField()),
                ("precision", models.CharField(max_length=10)),
                ("engine_release", models.CharField(max_length=50)),
                ("achieved_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["suite_slug", "fingerprint", "value"], name="benchmarks_entry_rank")],
            },
        ),
        migrations.CreateModel(
            name="PublishedRow",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("suite_slug", models.SlugField(max_length=100)),
                ("key", models.CharField(max_length=200)),
                ("position", models.PositiveSmallIntegerField()),
                (
                    "label",
                    models.CharField(
                        choices=[("Published", "Published"), ("Vendor claim", "Vendor Claim")], max_length=20
                    ),
                ),
                ("source", models.CharField(max_length=300)),
                ("round", models.CharField(blank=True, max_length=50)),
                ("division", models.CharField(blank=True, max_length=20)),
                ("system", models.CharField(max_length=200)),
                ("chips", models.PositiveIntegerField(null=True)),
                ("model", models.CharField(max_length=100)),
                ("framework", models.CharField(blank=True, max_length=200)),
                ("metric", models.CharField(max_length=50)),
                ("value", models.FloatField()),
                ("unit", models.CharField(max_length=100)),
                ("notes", models.TextField(blank=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("suite_slug", "key"), name="benchmarks_published_key")],
            },
        ),
        migrations.CreateModel(
            name="Suite",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("slug", models.SlugField(max_length=100)),
                ("version", models.PositiveSmallIntegerField()),
                ("name", models.CharField(max_length=200)),
                ("kind", models.CharField(max_length=50)),
                ("unit", models.CharField(max_length=30)),
                ("better", models.CharField(max_length=10)),
                ("description", models.TextField()),
                ("rules", models.JSONField()),
                ("position", models.PositiveSmallIntegerField()),
                ("current", models.BooleanField(default=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("slug", "version"), name="benchmarks_suite_version")],
            },
        ),
        migrations.RunSQL(
            f"REVOKE INSERT, UPDATE, DELETE ON benchmarks_suite, benchmarks_publishedrow, benchmarks_boardentry"
            f" FROM {app_role()}",
            migrations.RunSQL.noop,
        ),
    ]
