"""The embedded cluster in awkward places: spaces, a parent folder closed to others, an interrupted start."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from portal.ops import identity, postgres, processes, roles
from portal.ops.errors import OpsError
from portal.ops.home import Home
from portal.ops.identity import server_identity
from portal.ops.ports import private

FAST = {"fsync": "off", "shared_buffers": "16MB"}


class Server:
    """Starts a cluster as the launcher does and ends it."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.passwords = home.passwords()
        self.cluster = postgres.prepare(home, password=self.passwords["postgres"], port=private(), options=FAST)
        self.child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.child = processes.spawn(
            self.cluster.command(),
            log=self.home.logs / "postgres.log",
            environment={"PATH": os.defpath, "LC_ALL": "C"},
            folder=Path("/"),
            identity=self.cluster.identity,
            death_signal=signal.SIGINT,
        )
        self.cluster.wait(self.passwords["postgres"], 30)

    def end(self, number: int) -> None:
        assert self.child is not None
        processes.end_groups([processes.mark(self.child.pid)], first=number, grace=5)
        self.child.wait()


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    parent = tmp_path_factory.mktemp("a closed parent")
    parent.chmod(0o700)
    made = Home(parent / "data with spaces").create()
    yield made
    postgres.remove(made)


def test_it_runs_below_a_closed_parent_and_keeps_rows_over_kill_9(home: Home) -> None:
    server = Server(home)
    server.start()
    try:
        urls = roles.set_up_embedded(server.cluster, server.passwords)
        with psycopg.connect(urls["DATABASE_URL"], autocommit=True) as owner:
            owner.execute("CREATE TABLE kept (id int)")
            owner.execute("INSERT INTO kept SELECT generate_series(1, 1000)")
        server.end(signal.SIGKILL)
        server = Server(home)
        server.start()
        urls = roles.set_up_embedded(server.cluster, server.passwords)
        with psycopg.connect(urls["DATABASE_APP_URL"]) as app:
            row = app.execute("SELECT count(*) FROM kept").fetchone()
        assert row == (1000,)
    finally:
        server.end(signal.SIGINT)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root must give the server another user")
def test_as_root_the_server_has_a_user_of_its_own_and_its_data_lie_where_that_user_can_go(home: Home) -> None:
    cluster = Server(home).cluster
    assert cluster.identity.uid not in (None, 0, 65534)
    assert cluster.data.stat().st_uid == cluster.identity.uid
    assert (home.path / "postgres").is_symlink()
    place = (home.path / "postgres").readlink()
    postgres.remove(home)
    assert not place.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root must give the server another user")
def test_programs_below_a_closed_parent_are_copied_with_their_libraries(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = postgres.find_programs()
    source, parts = postgres._parts_of(programs)
    closed, outside = tmp_path / "closed", Path(tempfile.mkdtemp(prefix="podium-test-", dir="/var/tmp"))
    for part in parts:
        shutil.copytree(source / part, closed / part, symlinks=True)
    closed.chmod(0o700)
    monkeypatch.setattr(postgres, "find_programs", lambda: closed / programs.relative_to(source))
    monkeypatch.setattr(identity, "OUTSIDE_FOLDERS", (outside,))
    before = os.umask(0o077)  # as a careful root has it
    try:
        cluster = Server(home).cluster
        assert cluster.programs.is_relative_to(outside)
        assert (cluster.data / "PG_VERSION").exists()
    finally:
        os.umask(before)
        postgres.remove(home)
        shutil.rmtree(outside)


def test_an_interrupted_initdb_is_done_again(home: Home) -> None:
    cluster = Server(home).cluster
    half = cluster.data.parent / "new" / "data"
    cluster.data.rename(cluster.data.parent / "was")
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18")
    server = Server(home)
    server.start()
    server.end(signal.SIGINT)
    assert not half.exists()


def test_data_of_another_version_is_refused_with_what_to_do(home: Home) -> None:
    cluster = Server(home).cluster
    (cluster.data / "PG_VERSION").write_text("12\n")
    with pytest.raises(OpsError, match="PostgreSQL 12"):
        Server(home)


def test_a_lost_password_file_is_told_at_once(home: Home) -> None:
    server = Server(home)
    server.start()
    try:
        with pytest.raises(OpsError, match="file passwords"):
            server.cluster.wait("another", seconds=20)
    finally:
        server.end(signal.SIGINT)


def test_a_database_of_somebody_else_needs_an_owner_who_can_make_roles(home: Home) -> None:
    server = Server(home)
    server.start()
    try:
        root = server.cluster.url(postgres.SUPERUSER, server.passwords["postgres"], "postgres")
        with psycopg.connect(root, autocommit=True) as connection:
            connection.execute("CREATE ROLE theirs LOGIN CREATEROLE PASSWORD 'theirs'")
            connection.execute("CREATE DATABASE theirs OWNER theirs")
            url = server.cluster.url("theirs", "theirs", "theirs")
            with pytest.raises(OpsError, match="must be able to create roles"):
                roles.set_up_given(url)
            connection.execute("ALTER ROLE theirs BYPASSRLS")
        given = roles.set_up_given(url)
        with psycopg.connect(given["DATABASE_APP_URL"]) as app:
            assert app.execute("SELECT current_user").fetchone() == ("podium_app",)
        assert roles.set_up_given(url) == given, "two installations on one server agree"
    finally:
        server.end(signal.SIGINT)


def test_an_address_that_does_not_answer_is_one_sentence() -> None:
    with pytest.raises(OpsError, match="DATABASE_URL cannot be used"):
        roles.set_up_given("postgresql://nobody@127.0.0.1:1/none")


def test_an_ordinary_user_needs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    assert server_identity().uid is None


def test_a_user_without_a_name_is_told_what_postgresql_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 61999)
    with pytest.raises(OpsError, match="no name"):
        server_identity()
