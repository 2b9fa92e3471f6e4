"""Pods and their occupancy, which PostgreSQL keeps free of overlaps."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
from django.db import migrations, models

import portal.tenancy.ids

# V-IPU's rules hold in the table too: finite, a power of two of IPUs, aligned to its own size.
PARTITIONS = """
ALTER TABLE pods_occupancy
    ADD CONSTRAINT pods_bounded CHECK (
        NOT isempty(ipu_range) AND NOT lower_inf(ipu_range) AND NOT upper_inf(ipu_range) AND lower(ipu_range) >= 0
        AND NOT isempty(during) AND NOT lower_inf(during) AND NOT upper_inf(during)
        AND isfinite(lower(during)) AND isfinite(upper(during))
    ),
    ADD CONSTRAINT pods_partition CHECK (
        (upper(ipu_range) - lower(ipu_range)) & (upper(ipu_range) - lower(ipu_range) - 1) = 0
        AND lower(ipu_range) % (upper(ipu_range) - lower(ipu_range)) = 0
    );
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_settings_functions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Pod",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("slug", models.SlugField(max_length=40, unique=True)),
                ("name", models.CharField(max_length=80)),
                ("system", models.CharField(max_length=40)),
                ("ipus", models.PositiveIntegerField()),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("ipus__gt", 0)), name="pods_pod_has_ipus")],
            },
        ),
        migrations.CreateModel(
            name="Occupancy",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ipu_range", django.contrib.postgres.fields.ranges.IntegerRangeField()),
                ("during", django.contrib.postgres.fields.ranges.DateTimeRangeField()),
                (
                    "kind",
                    models.CharField(
                        choices=[("reservation", "Reservation"), ("job", "Job"), ("maintenance", "Maintenance")],
                        max_length=12,
                    ),
                ),
                (
                    "pod",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="pods.pod"),
                ),
            ],
            options={
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("pod", "="), ("ipu_range", "&&"), ("during", "&&")], name="pods_no_overlap"
                    )
                ],
            },
        ),
        migrations.RunSQL(
            PARTITIONS, "ALTER TABLE pods_occupancy DROP CONSTRAINT pods_bounded, DROP CONSTRAINT pods_partition"
        ),
    ]
