"""The ledger: accounts, transfers that can only be added, holds, and the platform's own two accounts."""

import django.db.models.deletion
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import TENANT, AppendOnly, CompositeForeignKey, EnableRLS, TenantTable

PLATFORM_ACCOUNTS = """
INSERT INTO credits_account (id, org_id, kind, balance)
    VALUES (gen_random_uuid(), NULL, 'issued', 0), (gen_random_uuid(), NULL, 'revenue', 0);
"""
# Accounts may be the platform's, so no composite foreign key can say that the others are of the transfer's organization.
OWN_ACCOUNTS_ONLY = """
CREATE FUNCTION credits_own_accounts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(*) FROM credits_account a
        WHERE a.id IN (NEW.debit_id, NEW.credit_id) AND (a.org_id IS NULL OR a.org_id = NEW.org_id)) <> 2 THEN
        RAISE EXCEPTION 'a transfer moves credits of one organization' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER credits_own_accounts BEFORE INSERT ON credits_transfer
    FOR EACH ROW EXECUTE FUNCTION credits_own_accounts();
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("organizations", "0001_tenants"),
    ]

    operations = [
        migrations.CreateModel(
            name="Account",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False, null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[("wallet", "Wallet"), ("held", "Held"), ("issued", "Issued"), ("revenue", "Revenue")],
                        max_length=10,
                    ),
                ),
                ("balance", models.BigIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("org_id", "kind"), name="credits_one_account_a_kind", nulls_distinct=False
                    ),
                    models.CheckConstraint(condition=models.Q(("balance__gte", 0)), name="credits_not_overdrawn"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind__in", ["wallet", "held"]), ("org_id__isnull", False)),
                            models.Q(("balance", 0), ("kind__in", ["issued", "revenue"]), ("org_id__isnull", True)),
                            _connector="OR",
                        ),
                        name="credits_whose_account",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("project_id", models.UUIDField(editable=False)),
                ("purpose", models.CharField(max_length=20)),
                ("reference_id", models.UUIDField()),
                ("amount", models.BigIntegerField()),
                ("captured", models.BigIntegerField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("settled_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("settled_at__isnull", True)),
                        fields=("purpose", "reference_id"),
                        name="credits_one_open_hold_a_thing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("amount__gte", 0),
                            models.Q(
                                ("captured__isnull", True),
                                models.Q(("captured__gte", 0), ("captured__lte", models.F("amount"))),
                                _connector="OR",
                            ),
                        ),
                        name="credits_capture_within_hold",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Transfer",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("grant", "Grant"), ("hold", "Hold"), ("capture", "Capture"), ("refund", "Refund")],
                        max_length=10,
                    ),
                ),
                ("amount", models.BigIntegerField()),
                ("note", models.CharField(blank=True, max_length=120)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "credit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="credits.account"
                    ),
                ),
                (
                    "debit",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="credits.account"
                    ),
                ),
                (
                    "hold",
                    models.ForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="credits.hold",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["org_id", "-id"], name="credits_ledger")],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("amount__gt", 0)), name="credits_amount_above_zero"),
                    models.CheckConstraint(
                        condition=models.Q(("debit", models.F("credit")), _negated=True), name="credits_two_accounts"
                    ),
                ],
            },
        ),
        EnableRLS("credits_account", using=f"org_id IS NULL OR {TENANT}", check=TENANT),
        TenantTable("credits_hold"),
        TenantTable("credits_transfer", project=False),
        CompositeForeignKey("credits_transfer", "hold_id", "credits_hold"),
        migrations.RunSQL(PLATFORM_ACCOUNTS, migrations.RunSQL.noop),
        migrations.RunSQL(
            OWN_ACCOUNTS_ONLY,
            "DROP TRIGGER credits_own_accounts ON credits_transfer; DROP FUNCTION credits_own_accounts();",
        ),
        AppendOnly("credits_transfer"),
    ]
