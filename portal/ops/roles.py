"""The three database roles, the database and its extensions. Table rules (row-level security) are the migrations' part.

podium_owner migrates and may bypass row security; podium_app (web, user-side tasks) and podium_system (ticker, hub,
scheduler) may not, and own nothing.
"""

import hashlib
import hmac
from urllib.parse import quote, unquote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from portal.ops.errors import OpsError
from portal.ops.postgres import SUPERUSER, Cluster

DATABASE = "podium"
OWNER = "podium_owner"
SERVED = ("podium_app", "podium_system")
EXTENSIONS = ("btree_gist", "citext")


def set_up_embedded(cluster: Cluster, passwords: dict[str, str], *, database: str = DATABASE) -> dict[str, str]:
    """Make roles, database and extensions in our own cluster; may be repeated. Returns the addresses by variable."""
    with psycopg.connect(cluster.url(SUPERUSER, passwords["postgres"], "postgres"), autocommit=True) as connection:
        _make_role(connection, OWNER, passwords[OWNER], "BYPASSRLS NOCREATEROLE NOCREATEDB NOSUPERUSER")
        for role in SERVED:
            _make_role(connection, role, passwords[role], "NOBYPASSRLS NOCREATEROLE NOCREATEDB NOSUPERUSER")
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone()
        if not found:
            connection.execute(
                sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(database), sql.Identifier(OWNER))
            )
    with psycopg.connect(cluster.url(SUPERUSER, passwords["postgres"], database), autocommit=True) as connection:
        _open_database(connection, database, OWNER)
    return addresses(cluster.url(OWNER, passwords[OWNER], database), {role: passwords[role] for role in SERVED})


def set_up_given(database_url: str) -> dict[str, str]:
    """The same in a database that somebody else runs, whose address is an owner's. Returns the three addresses.

    The passwords of the two other roles are derived from the owner's, so that installations sharing a server agree.
    """
    try:
        with psycopg.connect(database_url, autocommit=True, connect_timeout=10) as connection:
            owner, database = _check_owner(connection)
            key = (connection.info.password or database_url).encode()
            passwords = {role: hmac.new(key, role.encode(), hashlib.sha256).hexdigest() for role in SERVED}
            for role in SERVED:
                _make_role(connection, role, passwords[role], "NOBYPASSRLS")
            _open_database(connection, database, owner)
    except psycopg.Error as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise OpsError("database.refused", f"DATABASE_URL cannot be used: {reason}") from error
    return addresses(database_url, passwords)


def addresses(owner_url: str, passwords: dict[str, str]) -> dict[str, str]:
    """The environment variables with the address of each role: the owner's, with user and password replaced."""
    return {
        "DATABASE_URL": owner_url,
        "DATABASE_APP_URL": _as_role(owner_url, "podium_app", passwords["podium_app"]),
        "DATABASE_SYSTEM_URL": _as_role(owner_url, "podium_system", passwords["podium_system"]),
    }


def with_database(url: str, database: str) -> str:
    """The same server and role, another database."""
    return urlunsplit(urlsplit(url)._replace(path="/" + quote(database)))


def database_of(url: str) -> str:
    """The database named in an address."""
    return unquote(urlsplit(url).path.lstrip("/"))


def _as_role(url: str, role: str, password: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{role}:{quote(password, safe='')}@{host}"))


def _check_owner(connection: psycopg.Connection) -> tuple[str, str]:
    version = connection.info.server_version // 10000
    if version < 15:
        raise OpsError("database.too_old", f"DATABASE_URL is PostgreSQL {version}: Podium needs 15 or newer.")
    row = connection.execute(
        "SELECT current_user, current_database(), rolsuper OR (rolcreaterole AND rolbypassrls)"
        " FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    assert row is not None
    owner, database, able = row
    if not able:
        raise OpsError(
            "database.owner_rights",
            f"The role {owner} in DATABASE_URL must be able to create roles and to bypass row security: "
            f'have an administrator run  ALTER ROLE "{owner}" CREATEROLE BYPASSRLS;',
        )
    return str(owner), str(database)


def _make_role(connection: psycopg.Connection, name: str, password: str, attributes: str) -> None:
    exists = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [name]).fetchone()
    verb = "ALTER" if exists else "CREATE"
    connection.execute(
        sql.SQL(f"{verb} ROLE {{}} LOGIN {attributes} PASSWORD {{}}").format(
            sql.Identifier(name), sql.Literal(password)
        )
    )


def _open_database(connection: psycopg.Connection, database: str, owner: str) -> None:
    """Extensions, and what the served roles may do with tables that the owner will make."""
    for extension in EXTENSIONS:
        connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension)))
    roles = sql.SQL(", ").join(sql.Identifier(role) for role in SERVED)
    names = {"database": sql.Identifier(database), "owner": sql.Identifier(owner), "roles": roles}
    defaults = "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public"
    for statement in (
        "REVOKE ALL ON DATABASE {database} FROM PUBLIC",
        "GRANT CONNECT ON DATABASE {database} TO {roles}",
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        "GRANT ALL ON SCHEMA public TO {owner}",
        "GRANT USAGE ON SCHEMA public TO {roles}",
        f"{defaults} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {{roles}}",
        f"{defaults} GRANT USAGE, SELECT ON SEQUENCES TO {{roles}}",
    ):
        connection.execute(sql.SQL(statement).format(**names))
