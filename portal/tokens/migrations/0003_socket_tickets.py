"""Tickets with which a page opens its socket."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import EnableRLS


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0002_networks_rotation_and_device_login"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SocketTicket",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.BinaryField(unique=True)),
                ("session_key", models.CharField(max_length=40)),
                ("path", models.CharField(max_length=80)),
                ("expires_at", models.DateTimeField(db_index=True)),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        EnableRLS("tokens_socketticket", "false"),
    ]
