"""The servers themselves: roles can do what they should and no more."""

import psycopg
import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.services import Services


def test_owner_may_bypass_row_security_and_the_served_roles_may_not(services: Services) -> None:
    with psycopg.connect(services.environment()["DATABASE_URL"]) as connection:
        rows = connection.execute(
            "SELECT rolname, rolbypassrls, rolsuper FROM pg_roles WHERE rolname LIKE 'podium_%'"
        ).fetchall()
    assert sorted(rows) == [
        ("podium_app", False, False),
        ("podium_owner", True, False),
        ("podium_system", False, False),
    ]


@pytest.mark.parametrize("role", ["DATABASE_APP_URL", "DATABASE_SYSTEM_URL"])
def test_served_roles_cannot_make_tables(services: Services, role: str) -> None:
    with (
        psycopg.connect(services.environment()[role]) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute("CREATE TABLE planted (id int)")


def test_served_roles_may_write_rows_of_the_owners_tables(services: Services) -> None:
    with psycopg.connect(services.environment()["DATABASE_URL"], autocommit=True) as owner:
        owner.execute("CREATE TABLE written (id int)")
    try:
        with psycopg.connect(services.environment()["DATABASE_APP_URL"]) as app:
            app.execute("INSERT INTO written VALUES (1)")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute("TRUNCATE written")
    finally:
        services.restore()


def test_a_wrong_password_is_refused(services: Services) -> None:
    wrong = services.environment()["DATABASE_APP_URL"].replace("podium_app:", "podium_app:x")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(wrong)


def test_overlap_can_be_refused_by_the_database(services: Services) -> None:
    with psycopg.connect(services.environment()["DATABASE_URL"]) as connection:
        connection.execute(
            "CREATE TEMP TABLE booked (cluster int, ipus int4range, EXCLUDE USING gist (cluster WITH =, ipus WITH &&))"
        )
        connection.execute("INSERT INTO booked VALUES (1, '[0,4)')")
        with pytest.raises(psycopg.errors.ExclusionViolation):
            connection.execute("INSERT INTO booked VALUES (1, '[3,8)')")


def test_valkey_wants_its_password(services: Services) -> None:
    client = redis.Redis.from_url(services.environment()["REDIS_URL"])
    assert client.ping()
    stranger = redis.Redis(port=services.valkey_port, retry=Retry(NoBackoff(), 0))
    with pytest.raises(redis.AuthenticationError):
        stranger.ping()
