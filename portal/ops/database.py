"""What must be done before the code and its database fit together, and whether it is due. prepare.py does it."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import psycopg

from portal.ops import stamps
from portal.ops.console import last_lines
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
OPERATOR = "operator@podium.local"


@dataclass(frozen=True)
class Due:
    """A management command, what to call it on the terminal, and the stamp that says when it need not be run."""

    name: str
    title: str
    command: list[str]
    stamp: str


def bring_up_to_date(home: Home, environment: dict[str, str]) -> None:
    """Do what is due, in one process since Django takes long to load. What must be told once is then in `told_once`."""
    due = [
        each
        for each in _steps(environment["DATABASE_URL"])
        if not stamps.is_current(home.stamps / each.name, each.stamp)
    ]
    if not due:
        return
    log = home.logs / "prepare.log"
    with log.open("w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "portal.ops.prepare", str(home.path), json.dumps([asdict(each) for each in due])],
            cwd=CHECKOUT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stderr=output,
            check=False,
        )
    if done.returncode != 0:
        reason = (last_lines(log, 1) or ["no reason given"])[-1]
        raise OpsError("database.not_prepared", f"{reason}\n  All of it is in {log}.")


def told_once(home: Home) -> Path:
    """The file with what the operator is still to be told (the first password); gone once it was shown."""
    return home.run / "tell"


def _steps(owner_url: str) -> list[Due]:
    database = _identity(owner_url)
    loaded = stamps.fingerprint(CHECKOUT, LOADED, also=database)
    return [
        Due(
            "migrated",
            "bringing the database up to date",
            ["migrate", "--verbosity", "0"],
            stamps.fingerprint(CHECKOUT, MIGRATIONS, also=database),
        ),
        Due("catalogue", "loading the systems", ["load_catalogue"], loaded),
        Due("suites", "loading the benchmark suites", ["load_suites"], loaded),
        Due(
            "static",
            "collecting static files",
            ["collectstatic", "--noinput", "--verbosity", "0"],
            stamps.fingerprint(CHECKOUT, STATIC),
        ),
        Due("operator", "making the operator's account", ["create_operator", "--email", OPERATOR], database),
    ]


def _identity(owner_url: str) -> str:
    """What tells this database from one made anew under the same address: the numbers PostgreSQL gave it."""
    with psycopg.connect(owner_url) as connection:
        row = connection.execute(
            "SELECT system_identifier::text || '-' || oid::text FROM pg_control_system(), pg_database"
            " WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    return str(row[0])
