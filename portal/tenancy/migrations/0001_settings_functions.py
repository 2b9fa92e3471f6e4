"""Functions that the policies read: which organizations and which person the open context has set."""

from django.db import migrations

# After the first commit a custom setting is an empty string rather than absent, hence NULLIF.
CREATE = """
CREATE FUNCTION podium_org_ids() RETURNS uuid[] LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT NULLIF(current_setting('podium.org_ids', true), '')::uuid[] $$;
CREATE FUNCTION podium_user_id() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT NULLIF(current_setting('podium.user_id', true), '')::uuid $$;
"""
DROP = "DROP FUNCTION podium_org_ids(); DROP FUNCTION podium_user_id();"


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [migrations.RunSQL(CREATE, DROP)]
