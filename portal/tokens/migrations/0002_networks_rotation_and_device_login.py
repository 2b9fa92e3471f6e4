"""Tokens get networks, successors and an address of last use, and their rights are fixed by a trigger.

With the organization's limit on how long a token lives, and requests of device login.
"""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import TENANT, DefinerFunction, EnableRLS

ID = models.UUIDField(default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)
TEXTS = {"base_field": models.CharField(max_length=43), "default": list, "size": None}

# Whoever holds the secret is told why it opens nothing. The last use is kept to the minute, so that a busy token does
# not write on each request.
JUDGE = """
DECLARE found tokens_token%ROWTYPE; member_role text; verdict text := 'live';
BEGIN
    SELECT * INTO found FROM tokens_token t WHERE t.digest = wanted;
    IF found.id IS NULL THEN RETURN; END IF;
    SELECT m.role INTO member_role FROM organizations_membership m JOIN accounts_user u ON u.id = m.user_id
        WHERE m.org_id = found.org_id AND m.user_id = found.user_id AND u.is_active;
    IF found.revoked_at IS NOT NULL THEN verdict := 'revoked';
    ELSIF found.expires_at <= now() THEN verdict := 'expired';
    ELSIF member_role IS NULL THEN verdict := 'orphaned';
    ELSIF cardinality(found.networks) > 0
        AND (address IS NULL OR NOT address <<= ANY (found.networks::cidr[])) THEN verdict := 'elsewhere';
    END IF;
    IF verdict = 'live' THEN
        UPDATE tokens_token t SET last_used_at = now(), last_used_address = address
            WHERE t.id = found.id AND (t.last_used_at IS NULL OR t.last_used_at < now() - interval '1 minute');
    END IF;
    RETURN QUERY SELECT found.id, found.org_id, found.project_id, found.user_id, found.scopes::text[], member_role,
        verdict, found.expires_at;
END
"""
FIXED = """
CREATE FUNCTION tokens_token_fixed() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF (NEW.id, NEW.org_id, NEW.user_id, NEW.digest, NEW.scopes, NEW.networks, NEW.created_at)
            IS DISTINCT FROM (OLD.id, OLD.org_id, OLD.user_id, OLD.digest, OLD.scopes, OLD.networks, OLD.created_at)
        OR NEW.project_id IS DISTINCT FROM OLD.project_id
        OR NEW.expires_at > OLD.expires_at
        OR (OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at)
        OR (OLD.replaced_by_id IS NOT NULL AND NEW.replaced_by_id IS DISTINCT FROM OLD.replaced_by_id)
    THEN RAISE EXCEPTION 'what a token may do is fixed' USING ERRCODE = 'insufficient_privilege'; END IF;
    RETURN NEW;
END $body$;
CREATE TRIGGER tokens_token_fixed BEFORE UPDATE ON tokens_token
    FOR EACH ROW EXECUTE FUNCTION tokens_token_fixed()
"""


class Migration(migrations.Migration):
    dependencies = [("tokens", "0001_tokens"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.AddField("token", "networks", django.contrib.postgres.fields.ArrayField(**TEXTS)),
        migrations.AddField("token", "last_used_address", models.GenericIPAddressField(null=True)),
        migrations.AddField("token", "replaced_by_id", models.UUIDField(null=True)),
        migrations.AddField("token", "client", models.CharField(blank=True, default="", max_length=80)),
        migrations.CreateModel(
            name="TokenPolicy",
            fields=[
                ("id", ID),
                ("org_id", models.UUIDField(editable=False, unique=True)),
                ("most_days", models.PositiveSmallIntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("most_days__gte", 1), ("most_days__lte", 365)), name="tokens_policy_days"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="DeviceRequest",
            fields=[
                ("id", ID.clone()),
                ("device_digest", models.BinaryField(unique=True)),
                ("code_digest", models.BinaryField(unique=True)),
                ("client", models.CharField(max_length=80)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None),
                ),
                ("address", models.GenericIPAddressField(null=True)),
                ("user_agent", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("interval", models.PositiveSmallIntegerField(default=5)),
                ("polled_at", models.DateTimeField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("approved", "Approved"),
                            ("denied", "Denied"),
                            ("redeemed", "Redeemed"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("org_id", models.UUIDField(null=True)),
                ("project_id", models.UUIDField(null=True)),
                ("days", models.PositiveSmallIntegerField(default=0)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["address", "expires_at"], name="tokens_device_by_address")]},
        ),
        migrations.CreateModel(
            name="DeviceGuess",
            fields=[
                ("id", ID.clone()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={"abstract": False},
        ),
        migrations.RunSQL(
            "ALTER TABLE tokens_tokenpolicy ADD CONSTRAINT tokens_tokenpolicy_org FOREIGN KEY (org_id)"
            " REFERENCES organizations_organization (id) ON DELETE CASCADE",
            "ALTER TABLE tokens_tokenpolicy DROP CONSTRAINT tokens_tokenpolicy_org",
        ),
        EnableRLS("tokens_tokenpolicy", TENANT),
        # Before anybody has approved there is no tenant: only verbs under the system role see these.
        EnableRLS("tokens_devicerequest", "false"),
        EnableRLS("tokens_deviceguess", "false"),
        migrations.RunSQL(FIXED, "DROP TRIGGER tokens_token_fixed ON tokens_token; DROP FUNCTION tokens_token_fixed()"),
        DefinerFunction(
            "podium_judge_token(wanted bytea, address inet)",
            "TABLE (token_id uuid, org_id uuid, project_id uuid, user_id uuid, scopes text[], role text, verdict text,"
            " expires_at timestamptz)",
            JUDGE,
        ),
    ]
