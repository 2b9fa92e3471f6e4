"""Bringing the database up to the code: migrations, the catalogue, the suites, the first operator. All may be skipped
when a stamp says that they are done."""

import subprocess
import sys

import psycopg

from portal.ops import stamps
from portal.ops.console import step
from portal.ops.errors import OpsError
from portal.ops.home import CHECKOUT, Home

MIGRATIONS = ("portal/**/migrations/*.py", "requirements.txt", "portal/ops/roles.py")
LOADED = (
    "portal/**/*.py",
    "portal/**/*.csv",
    "portal/**/*.yaml",
    "portal/**/*.json",
    "simulator/machines/**/*",
    "simulator/zoo/**/*",
)
STATIC = ("requirements.txt", "portal/settings.py", "portal/**/static/**/*")


def bring_up_to_date(home: Home, environment: dict[str, str]) -> str:
    """Do what is due. Returns what the operator must be told once (the first password), mostly nothing."""
    identity = _identity(environment["DATABASE_URL"])
    _when_due(home, "migrated", stamps.fingerprint(CHECKOUT, MIGRATIONS, also=identity), environment,
              "bringing the database up to date", ["migrate", "--verbosity", "0"])  # fmt: skip
    loaded = stamps.fingerprint(CHECKOUT, LOADED, also=identity)
    _when_due(home, "catalogue", loaded, environment, "loading the systems", ["load_catalogue"])
    _when_due(home, "suites", loaded, environment, "loading the benchmark suites", ["load_suites"])
    _when_due(home, "static", stamps.fingerprint(CHECKOUT, STATIC), environment, "collecting static files",
              ["collectstatic", "--noinput", "--verbosity", "0"])  # fmt: skip
    return _when_due(home, "operator", identity, environment, "making the operator's account",
                     ["create_operator", "--email", "operator@podium.local"])  # fmt: skip


def manage(environment: dict[str, str], *arguments: str) -> str:
    """Run a management command. Returns what it printed; its failure is told by its last line."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=CHECKOUT, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise OpsError(
            f"manage.{arguments[0]}",
            f"manage.py {arguments[0]} failed: {_reason(done.stderr or done.stdout)}\n"
            f"  To see it whole: ./podium manage {' '.join(arguments)}",
        )
    return done.stdout.strip()


def _reason(text: str) -> str:
    """The line that tells most: a traceback's last, a plain message's first."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return "no reason given"
    return lines[-1] if any(line.startswith("Traceback") for line in lines) else lines[0]


def _when_due(home: Home, name: str, wanted: str, environment: dict[str, str], title: str, command: list[str]) -> str:
    stamp = home.stamps / name
    if stamps.is_current(stamp, wanted):
        return ""
    with step(title):
        printed = manage(environment, *command)
    stamps.write(stamp, wanted)
    return printed


def _identity(owner_url: str) -> str:
    """What tells this database from one made anew under the same address: the numbers PostgreSQL gave it."""
    with psycopg.connect(owner_url) as connection:
        row = connection.execute(
            "SELECT system_identifier::text || '-' || oid::text FROM pg_control_system(), pg_database"
            " WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return str(row[0])
