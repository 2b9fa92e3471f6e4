"""Migration operations that put a table behind row-level security and tie tenant tables by composite foreign keys.

Policies name three roles: the app role (bound to the open organizations or person), the system role and the owner.
"""

from typing import Any

from django.conf import settings
from django.db.migrations.operations.base import Operation

ORGS = "(SELECT podium_org_ids())"
PERSON = "(SELECT podium_user_id())"
TENANT = f"org_id = ANY ({ORGS}::uuid[])"


class _Sql(Operation):
    """An operation that is only SQL; Django's own state knows nothing of it."""

    reversible = True

    def state_forwards(self, app_label: str, state: Any) -> None:
        return

    def forwards(self) -> list[str]:
        raise NotImplementedError

    def backwards(self) -> list[str]:
        raise NotImplementedError

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for statement in self.forwards():
            schema_editor.execute(statement, params=None)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for statement in self.backwards():
            schema_editor.execute(statement, params=None)


def app_role() -> str:
    return f'"{settings.DATABASES["default"]["USER"]}"'


def system_role() -> str:
    return f'"{settings.DATABASES["system"]["USER"]}"'


class EnableRLS(_Sql):
    """Force row-level security on `table`: the app role passes where `using` holds, system and owner everywhere.

    `check` is what a written row must satisfy (default: `using`). Both are SQL over the row's columns, podium_org_ids()
    and podium_user_id().
    """

    def __init__(self, table: str, using: str, check: str | None = None) -> None:
        self.table, self.using, self.check = table, using, check

    def forwards(self) -> list[str]:
        check = self.check or self.using
        return [
            f"ALTER TABLE {self.table} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {self.table} FORCE ROW LEVEL SECURITY",
            f"CREATE POLICY {self.table}_app ON {self.table} TO {app_role()} USING ({self.using}) WITH CHECK ({check})",
            f"CREATE POLICY {self.table}_system ON {self.table} TO {system_role()} USING (true) WITH CHECK (true)",
            f"CREATE POLICY {self.table}_owner ON {self.table} TO CURRENT_USER USING (true) WITH CHECK (true)",
        ]

    def backwards(self) -> list[str]:
        drops = [f"DROP POLICY {self.table}_{role} ON {self.table}" for role in ("app", "system", "owner")]
        return [
            *drops,
            f"ALTER TABLE {self.table} NO FORCE ROW LEVEL SECURITY",
            f"ALTER TABLE {self.table} DISABLE ROW LEVEL SECURITY",
        ]

    def describe(self) -> str:
        return f"Force row-level security on {self.table}"


class TenantTable(_Sql):
    """What a `TenantModel` table needs: (org_id, id) unique, foreign keys to organization and project, the policy."""

    def __init__(self, table: str, *, project: bool = True, using: str = TENANT, check: str = TENANT) -> None:
        self.table, self.project = table, project
        self.wall = EnableRLS(table, using, check)

    def forwards(self) -> list[str]:
        statements = [
            f"ALTER TABLE {self.table} ADD CONSTRAINT {self.table}_org_id_id UNIQUE (org_id, id)",
            f"ALTER TABLE {self.table} ADD CONSTRAINT {self.table}_org"
            " FOREIGN KEY (org_id) REFERENCES organizations_organization (id)",
        ]
        if self.project:
            statements += CompositeForeignKey(self.table, "project_id", "organizations_project").forwards()
        return statements + self.wall.forwards()

    def backwards(self) -> list[str]:
        statements = self.wall.backwards()
        if self.project:
            statements += CompositeForeignKey(self.table, "project_id", "organizations_project").backwards()
        return [
            *statements,
            f"ALTER TABLE {self.table} DROP CONSTRAINT {self.table}_org",
            f"ALTER TABLE {self.table} DROP CONSTRAINT {self.table}_org_id_id",
        ]

    def describe(self) -> str:
        return f"Put {self.table} behind the tenant wall"


class CompositeForeignKey(_Sql):
    """(org_id, column) -> (org_id, id) of another tenant table: a row can never refer to another organization's row.

    Row-level security does not check foreign keys, so the plain kind would let an id of a stranger through. The Django
    field beside it has `db_constraint=False`.
    """

    def __init__(self, table: str, column: str, to: str) -> None:
        self.table, self.column, self.to = table, column, to

    @property
    def name(self) -> str:
        return f"{self.table}_{self.column}_in_org"

    def forwards(self) -> list[str]:
        return [
            f"ALTER TABLE {self.table} ADD CONSTRAINT {self.name} FOREIGN KEY (org_id, {self.column}) "
            f"REFERENCES {self.to} (org_id, id)"
        ]

    def backwards(self) -> list[str]:
        return [f"ALTER TABLE {self.table} DROP CONSTRAINT {self.name}"]

    def describe(self) -> str:
        return f"Tie {self.table}.{self.column} to {self.to} within one organization"


class DefinerFunction(_Sql):
    """A narrow SECURITY DEFINER function, for what must be found before the tenant is known; PUBLIC may not call it."""

    def __init__(self, signature: str, returns: str, body: str) -> None:
        self.signature, self.returns, self.body = signature, returns, body

    @property
    def types(self) -> str:
        """The signature without argument names: what GRANT and DROP ask for."""
        name, _, arguments = self.signature.partition("(")
        return f"{name}({', '.join(argument.split()[-1] for argument in arguments.rstrip(')').split(',') if argument)})"

    def forwards(self) -> list[str]:
        return [
            f"CREATE FUNCTION {self.signature} RETURNS {self.returns} LANGUAGE plpgsql SECURITY DEFINER "
            f"SET search_path = public, pg_temp AS $body$ {self.body} $body$",
            f"REVOKE ALL ON FUNCTION {self.types} FROM PUBLIC",
            f"GRANT EXECUTE ON FUNCTION {self.types} TO {app_role()}, {system_role()}",
        ]

    def backwards(self) -> list[str]:
        return [f"DROP FUNCTION {self.types}"]

    def describe(self) -> str:
        return f"Create {self.signature}"


class AppendOnly(_Sql):
    """Rows of `table` are added and read, never changed or removed, by any role but the owner."""

    def __init__(self, table: str) -> None:
        self.table = table

    def forwards(self) -> list[str]:
        return [f"REVOKE UPDATE, DELETE, TRUNCATE ON {self.table} FROM {app_role()}, {system_role()}"]

    def backwards(self) -> list[str]:
        return [f"GRANT UPDATE, DELETE ON {self.table} TO {app_role()}, {system_role()}"]

    def describe(self) -> str:
        return f"Make {self.table} append-only"


class WrittenOnce(_Sql):
    """As `AppendOnly`, by triggers too: they stop the owner as well, and whoever was granted too much.

    With `by_database` the served roles add no rows either: functions of the database do.
    """

    def __init__(self, table: str, *, by_database: bool = False) -> None:
        self.table, self.by_database = table, by_database

    def forwards(self) -> list[str]:
        sealed = [f"REVOKE INSERT ON {self.table} FROM {app_role()}, {system_role()}"] if self.by_database else []
        return [
            *AppendOnly(self.table).forwards(),
            *sealed,
            f"CREATE FUNCTION {self.table}_written_once() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN "
            f"RAISE EXCEPTION '{self.table} is written once' USING ERRCODE = 'insufficient_privilege'; END $body$",
            f"CREATE TRIGGER {self.table}_unchanged BEFORE UPDATE OR DELETE ON {self.table} "
            f"FOR EACH ROW EXECUTE FUNCTION {self.table}_written_once()",
            f"CREATE TRIGGER {self.table}_kept BEFORE TRUNCATE ON {self.table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {self.table}_written_once()",
        ]

    def backwards(self) -> list[str]:
        return [
            f"DROP TRIGGER {self.table}_kept ON {self.table}",
            f"DROP TRIGGER {self.table}_unchanged ON {self.table}",
            f"DROP FUNCTION {self.table}_written_once()",
            f"GRANT INSERT ON {self.table} TO {app_role()}, {system_role()}",
            *AppendOnly(self.table).backwards(),
        ]

    def describe(self) -> str:
        return f"Let rows of {self.table} be written once"
