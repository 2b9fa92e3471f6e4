"""What the launcher does to a database before anything starts, and what it says when that fails."""

import json
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from portal.ops import database, environment
from portal.ops.errors import OpsError
from portal.ops.home import CHECKOUT, Home
from tests.services import Services


def test_a_failed_command_ends_with_its_reason(tmp_path: Path) -> None:
    home = Home(tmp_path).create()
    due = [{"name": "none", "title": "nothing", "command": ["no_such_command"], "stamp": "1"}]
    done = subprocess.run(
        [sys.executable, "-m", "portal.ops.prepare", str(tmp_path), json.dumps(due)],
        cwd=CHECKOUT, env=environment.bare(home), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert (
        done.stderr.strip().splitlines()[-1] == "manage.py no_such_command failed: Unknown command: 'no_such_command'"
    )
    assert not (home.stamps / "none").exists()


def test_what_was_done_is_not_due_again_and_a_password_waits_until_it_is_shown(services: Services) -> None:
    home = Home(services.home.path / "prepared").create()
    urls = services.environment()
    variables = environment.for_services(home, url="http://x", databases=urls, redis_url=urls["REDIS_URL"])
    database.bring_up_to_date(home, variables)
    assert {path.name for path in home.stamps.iterdir()} == {"migrated", "catalogue", "suites", "static", "operator"}
    assert f"Operator {database.OPERATOR} with password " in database.told_once(home).read_text()
    (home.logs / "prepare.log").unlink()
    database.bring_up_to_date(home, variables)
    assert not (home.logs / "prepare.log").exists(), "nothing was run"
    services.restore()


def test_a_migration_that_cannot_be_done_is_one_sentence_and_a_log(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(services.home.path / "refused").create()
    urls = services.environment()
    app = {"DATABASE_URL": urls["DATABASE_APP_URL"]}  # a role that may not make tables
    variables = environment.for_services(home, url="http://x", databases={**urls, **app}, redis_url=urls["REDIS_URL"])
    monkeypatch.setattr(database, "_identity", lambda url: "another")
    with psycopg.connect(urls["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("DELETE FROM django_migrations WHERE app = 'jobs'")
    with pytest.raises(OpsError, match=r"manage.py migrate failed: .*\n.*prepare.log"):
        database.bring_up_to_date(home, variables)
    services.restore()
