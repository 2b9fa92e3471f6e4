"""Reservations, behind row-level security."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import CompositeForeignKey, TenantTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_tenants"),
        ("credits", "0001_ledger"),
        ("pods", "0001_pods_and_occupancy"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Reservation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("ipu_start", models.PositiveIntegerField()),
                ("ipus", models.PositiveIntegerField()),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("zone", models.CharField(max_length=60)),
                (
                    "state",
                    models.CharField(
                        choices=[("booked", "Booked"), ("ended", "Ended"), ("cancelled", "Cancelled")],
                        default="booked",
                        max_length=10,
                    ),
                ),
                ("price_microcredits", models.BigIntegerField()),
                ("hold_id", models.UUIDField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "occupancy",
                    models.OneToOneField(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="pods.occupancy"
                    ),
                ),
                (
                    "pod",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="pods.pod"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "booked")), fields=["ends_at"], name="reservations_due")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("starts_at__lt", models.F("ends_at"))),
                        name="reservations_starts_before_end",
                    )
                ],
            },
        ),
        TenantTable("reservations_reservation"),
        CompositeForeignKey("reservations_reservation", "hold_id", "credits_hold"),
    ]
