"""Organizations, projects and memberships, behind row-level security from the start."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.actor
import portal.tenancy.ids
from portal.tenancy.rls import ORGS, PERSON, TENANT, EnableRLS, TenantTable


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_settings_functions"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Organization",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("slug", models.SlugField(max_length=60, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "personal_of",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Project",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("slug", models.SlugField(max_length=60)),
                ("name", models.CharField(max_length=120)),
                ("is_default", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("org_id", "slug"), name="organizations_project_slug"),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)), fields=("org_id",), name="organizations_one_default"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                (
                    "role",
                    models.CharField(
                        choices=[("viewer", "viewer"), ("member", "member"), ("admin", "admin"), ("owner", "owner")],
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("org_id", "user"), name="organizations_one_membership"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "role__in",
                                [
                                    portal.tenancy.actor.Role["VIEWER"],
                                    portal.tenancy.actor.Role["MEMBER"],
                                    portal.tenancy.actor.Role["ADMIN"],
                                    portal.tenancy.actor.Role["OWNER"],
                                ],
                            )
                        ),
                        name="organizations_known_role",
                    ),
                ],
            },
        ),
        # A person sees their own organization and memberships before any organization is open: that is how the set is found.
        EnableRLS(
            "organizations_organization",
            using=f"id = ANY ({ORGS}::uuid[]) OR personal_of_id = {PERSON}",
            check=f"id = ANY ({ORGS}::uuid[])",
        ),
        TenantTable("organizations_project", project=False),
        TenantTable("organizations_membership", project=False, using=f"{TENANT} OR user_id = {PERSON}"),
    ]
