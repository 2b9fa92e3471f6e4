"""Answers of idempotent requests, each visible to its own person alone."""

from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import PERSON, EnableRLS


class Migration(migrations.Migration):
    initial = True
    dependencies = [("tenancy", "0001_settings_functions")]
    operations = [
        migrations.CreateModel(
            name="IdempotentAnswer",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("user_id", models.UUIDField()),
                ("key", models.CharField(max_length=128)),
                ("route", models.CharField(max_length=200)),
                ("body_sha256", models.CharField(max_length=64)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("answer", models.JSONField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user_id", "key", "route"), name="http_one_answer_per_key")
                ]
            },
        ),
        EnableRLS("http_idempotentanswer", f"user_id = {PERSON}"),
    ]
