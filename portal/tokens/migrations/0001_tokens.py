"""Tokens, and the narrow function that finds one before its organization is known."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import DefinerFunction, TenantTable

# The last use is kept to the minute, so that a busy token does not write on each request.
FIND = """
DECLARE found tokens_token%ROWTYPE; member_role text;
BEGIN
    SELECT * INTO found FROM tokens_token t
        WHERE t.digest = wanted AND t.revoked_at IS NULL AND t.expires_at > now();
    IF found.id IS NULL THEN RETURN; END IF;
    SELECT m.role INTO member_role FROM organizations_membership m JOIN accounts_user u ON u.id = m.user_id
        WHERE m.org_id = found.org_id AND m.user_id = found.user_id AND u.is_active;
    IF member_role IS NULL THEN RETURN; END IF;
    UPDATE tokens_token t SET last_used_at = now()
        WHERE t.id = found.id AND (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute');
    RETURN QUERY SELECT found.id, found.org_id, found.project_id, found.user_id, found.scopes::text[], member_role;
END
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_tenants"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Token",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False, null=True)),
                ("name", models.CharField(max_length=80)),
                ("prefix", models.CharField(max_length=12)),
                ("digest", models.BinaryField(unique=True)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        TenantTable("tokens_token"),
        DefinerFunction(
            "podium_find_token(wanted bytea)",
            "TABLE (token_id uuid, org_id uuid, project_id uuid, user_id uuid, scopes text[], role text)",
            FIND,
        ),
    ]
