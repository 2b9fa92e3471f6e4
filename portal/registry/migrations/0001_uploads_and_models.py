"""Uploads and models, behind row-level security."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import CompositeForeignKey, TenantTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_tenants"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Model",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("bytes", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("inspecting", "Inspecting"), ("accepted", "Accepted"), ("refused", "Refused")],
                        default="inspecting",
                        max_length=12,
                    ),
                ),
                ("summary", models.JSONField(null=True)),
                ("refusal", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("inspected_at", models.DateTimeField(null=True)),
                ("deleted_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project_id", "-id"], name="registry_model_by_project"),
                    models.Index(
                        condition=models.Q(("state", "inspecting")),
                        fields=["created_at"],
                        name="registry_model_waiting",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("refusal__isnull", True), ("state", "inspecting"), ("summary__isnull", True)),
                            models.Q(("refusal__isnull", True), ("state", "accepted"), ("summary__isnull", False)),
                            models.Q(("refusal__isnull", False), ("state", "refused"), ("summary__isnull", True)),
                            _connector="OR",
                        ),
                        name="registry_model_state_has_its_reason",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("name", models.CharField(max_length=255)),
                ("size", models.BigIntegerField()),
                ("received", models.BigIntegerField(default=0)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("model_id", models.UUIDField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("received__gte", 0), ("received__lte", models.F("size")), ("size__gt", 0)),
                        name="registry_upload_within_size",
                    )
                ],
            },
        ),
        TenantTable("registry_model"),
        TenantTable("registry_upload"),
        CompositeForeignKey("registry_upload", "model_id", "registry_model"),
    ]
