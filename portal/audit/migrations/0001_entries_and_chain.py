"""Entries of the audit log, written once, and the chain that a trigger ties at commit."""

import django.core.serializers.json
from django.db import migrations, models

import portal.tenancy.ids
from portal.tenancy.rls import PERSON, TENANT, EnableRLS, WrittenOnce

OWN = f"(org_id IS NULL AND (actor_id = {PERSON} OR target_id = {PERSON}::text))"

# Columns are named one by one: a column added later must not change the hashes of old entries. Times are told in UTC,
# since the text of a timestamptz depends on the session.
HASH = """
CREATE FUNCTION podium_audit_hash(previous bytea, e audit_entry) RETURNS bytea LANGUAGE sql STABLE AS $body$
    SELECT sha256(previous || convert_to(jsonb_build_array(
        e.id, e.org_id, e.project_id, e.at AT TIME ZONE 'UTC', e.actor_id, e.token_id, e.on_behalf_of_id, e.action,
        e.target_id, e.label, e.before, e.after, host(e.address), e.user_agent, e.request_id)::text, 'UTF8'))
$body$
"""
LINK = """
CREATE FUNCTION podium_audit_link() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $body$
DECLARE chain uuid := coalesce(NEW.org_id, '00000000-0000-0000-0000-000000000000'); last audit_link%ROWTYPE;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('audit ' || chain::text, 0));
    SELECT * INTO last FROM audit_link l WHERE l.org_id = chain ORDER BY l.place DESC LIMIT 1;
    INSERT INTO audit_link (id, org_id, place, previous, hash)
        VALUES (NEW.id, chain, coalesce(last.place, 0) + 1, coalesce(last.hash, ''),
                podium_audit_hash(coalesce(last.hash, ''), NEW));
    RETURN NULL;
END $body$;
REVOKE ALL ON FUNCTION podium_audit_link() FROM PUBLIC;
CREATE CONSTRAINT TRIGGER audit_entry_linked AFTER INSERT ON audit_entry DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION podium_audit_link()
"""
# Not SECURITY DEFINER: whoever calls it checks what they may read, the system role everything.
FAULTS = """
CREATE FUNCTION podium_audit_faults() RETURNS TABLE (chain uuid, place bigint, fault text) LANGUAGE sql STABLE AS $body$
    WITH walked AS (
        SELECT l.org_id, l.place, l.id, l.previous, l.hash,
            row_number() OVER w AS expected, coalesce(lag(l.hash) OVER w, '') AS before
        FROM audit_link l WINDOW w AS (PARTITION BY l.org_id ORDER BY l.place))
    SELECT w.org_id, w.place, CASE
            WHEN w.place <> w.expected THEN 'a link before it is missing'
            WHEN w.previous <> w.before THEN 'it does not follow from the link before'
            WHEN e.id IS NULL THEN 'its entry is missing'
            ELSE 'its entry was changed' END
        FROM walked w LEFT JOIN audit_entry e ON e.id = w.id
        WHERE w.place <> w.expected OR w.previous <> w.before OR e.id IS NULL
            OR w.hash <> podium_audit_hash(w.previous, e)
            OR w.org_id <> coalesce(e.org_id, '00000000-0000-0000-0000-000000000000')
    UNION ALL
    SELECT e.org_id, 0, 'an entry stands in no chain' FROM audit_entry e
        WHERE NOT EXISTS (SELECT 1 FROM audit_link l WHERE l.id = e.id)
$body$
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [("tenancy", "0001_settings_functions")]

    operations = [
        migrations.CreateModel(
            name="Entry",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False, null=True)),
                ("project_id", models.UUIDField(editable=False, null=True)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("actor_id", models.UUIDField(null=True)),
                ("token_id", models.UUIDField(null=True)),
                ("on_behalf_of_id", models.UUIDField(null=True)),
                ("action", models.CharField(max_length=60)),
                ("target_id", models.CharField(blank=True, max_length=80)),
                ("label", models.CharField(blank=True, max_length=120)),
                ("before", models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
                ("after", models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder, null=True)),
                ("address", models.GenericIPAddressField(null=True)),
                ("user_agent", models.CharField(blank=True, max_length=200)),
                ("request_id", models.CharField(blank=True, max_length=64)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["org_id", "-id"], name="audit_by_organization"),
                    models.Index(fields=["org_id", "actor_id", "-id"], name="audit_by_actor"),
                    models.Index(fields=["org_id", "target_id", "-id"], name="audit_by_target"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Link",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=portal.tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("org_id", models.UUIDField(editable=False)),
                ("place", models.BigIntegerField()),
                ("previous", models.BinaryField()),
                ("hash", models.BinaryField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("org_id", "place"), name="audit_one_chain")],
            },
        ),
        migrations.RunSQL(HASH, "DROP FUNCTION podium_audit_hash(bytea, audit_entry)"),
        migrations.RunSQL(LINK, "DROP TRIGGER audit_entry_linked ON audit_entry; DROP FUNCTION podium_audit_link()"),
        migrations.RunSQL(FAULTS, "DROP FUNCTION podium_audit_faults()"),
        EnableRLS("audit_entry", f"{TENANT} OR {OWN}", f"{TENANT} OR org_id IS NULL"),
        EnableRLS("audit_link", TENANT, "false"),
        WrittenOnce("audit_entry"),
        WrittenOnce("audit_link", by_database=True),
    ]
