"""A private PostgreSQL and Valkey for one pytest process: started on demand, migrated once, gone at the end.

A cluster migrated before is kept by the hash of the migrations and copied, since migrating takes longer than most
suites. With DATABASE_URL or REDIS_URL given, those servers are used instead (in databases of our own, dropped after).
"""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from portal.ops import ports, postgres, processes, roles, stamps, valkey
from portal.ops.home import CHECKOUT, Home
from portal.ops.identity import server_identity

FAST = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "shared_buffers": "64MB"}
TEMPLATE = "podium_template"
DATABASE = "podium_test"
CACHE = Path(os.environ.get("PODIUM_TEST_CACHE", Path(tempfile.gettempdir()) / f"podium-test-cache-{os.getuid()}"))
LOADERS = "portal/*/management/commands/load_*.py"
SOURCES = (
    "portal/**/migrations/*.py",
    LOADERS,
    "portal/**/data/**/*",
    "portal/tenancy/*.py",
    "portal/pods/*.py",
    "portal/benchmarks/*.py",
    "simulator/machines/**/*.yaml",
    "portal/ops/roles.py",
    "portal/ops/postgres.py",
    "requirements.txt",
    "tests/services.py",
)


class Services:
    """Addresses are fixed when this is made, so that settings can be read; servers start with `start`."""

    def __init__(self) -> None:
        self.home = Home(Path(tempfile.mkdtemp(prefix="podium-test-")))
        self.home.create()
        self.home.path.chmod(0o711)  # the server's own user passes through
        self.given_database = os.environ.get("DATABASE_URL", "")
        self.given_redis = os.environ.get("REDIS_URL", "")
        self.port = ports.any_free()
        self.valkey_port = ports.any_free()
        self.started = False
        self._children: list[subprocess.Popen[bytes]] = []
        self._suffix = secrets.token_hex(3) if self.given_database else ""
        self.passwords = dict.fromkeys(
            ("postgres", "podium_owner", "podium_app", "podium_system", "valkey"), "test-only"
        )

    @property
    def database(self) -> str:
        return DATABASE + self._suffix

    @property
    def template(self) -> str:
        return TEMPLATE + self._suffix

    def environment(self) -> dict[str, str]:
        """What the settings module reads."""
        return {
            "PODIUM_HOME": str(self.home.path),
            "PODIUM_ENV": "test",
            "PODIUM_SECRET_KEY": "test-only-" + "0" * 50,
            "PODIUM_URL": "http://testserver",
            "PODIUM_MAIL": "outbox",
            "REDIS_URL": self.given_redis or f"redis://:{self.passwords['valkey']}@127.0.0.1:{self.valkey_port}/0",
            **self._database_urls(self.database),
        }

    def start(self) -> None:
        """Start both servers and make the migrated database. Does nothing the second time."""
        if self.started:
            return
        self.started = True
        if not self.given_redis:
            server = valkey.prepare(self.home, password=self.passwords["valkey"], port=self.valkey_port, durable=False)
            self._spawn("valkey", server.command(), signal.SIGTERM)
        if self.given_database:
            self._make_template_in_given()
        else:
            self._start_embedded()
        self.restore()

    def restore(self) -> None:
        """Put the test database back to the migrated state, whoever is connected to it."""
        with psycopg.connect(self._admin_url(), autocommit=True) as connection:
            name, template = sql.Identifier(self.database), sql.Identifier(self.template)
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(name, template))
            if not self.given_database:
                connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(name, sql.Identifier(roles.OWNER)))
            connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(name))
            connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO podium_app, podium_system").format(name))

    def stop(self) -> None:
        """End what was started and delete what was made."""
        if self.started and self.given_database:
            with contextlib.suppress(psycopg.Error), psycopg.connect(self._admin_url(), autocommit=True) as connection:
                for name in (self.database, self.template):
                    connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
        processes.end_groups([processes.mark(child.pid) for child in self._children], first=signal.SIGINT, grace=5)
        for child in self._children:
            child.wait()
        postgres.remove(self.home)
        shutil.rmtree(self.home.path, ignore_errors=True)

    def _database_urls(self, database: str) -> dict[str, str]:
        if self.given_database:
            urls = roles.set_up_given(self.given_database)
            return {name: roles.with_database(url, database) for name, url in urls.items()}
        owner = f"postgresql://{roles.OWNER}:{self.passwords[roles.OWNER]}@127.0.0.1:{self.port}/{database}"
        return roles.addresses(owner, self.passwords)

    def _admin_url(self) -> str:
        own = f"postgresql://{postgres.SUPERUSER}:{self.passwords['postgres']}@127.0.0.1:{self.port}/postgres"
        return self.given_database or own

    def _spawn(self, name: str, command: list[str], death_signal: int, identity=None) -> None:
        self._children.append(
            processes.spawn(
                command, log=self.home.logs / f"{name}.log", environment={"PATH": os.defpath, "LC_ALL": "C"},
                folder=Path("/"), identity=identity, death_signal=death_signal,
            )
        )  # fmt: skip

    def _start_embedded(self) -> None:
        kept = CACHE / stamps.fingerprint(CHECKOUT, SOURCES, also=str(CHECKOUT))[:24]
        CACHE.mkdir(mode=0o711, exist_ok=True)
        with (CACHE / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if kept.exists():
                place = self.home.path / "postgres"
                place.mkdir(mode=0o711)
                shutil.copytree(kept, place / "data")
                (place / "data").chmod(0o700)
                server_identity(kept).own(place / "data")
                self._serve()
                return
            cluster = self._serve()
            roles.set_up_embedded(cluster, self.passwords, database=self.template)
            self._migrate()
            self._stop_server(self._children.pop())
            _prune_cache()
            fresh = CACHE / "new"
            shutil.copytree(cluster.data, fresh)
            server_identity(cluster.data).own(fresh)
            fresh.rename(kept)
        self._serve()

    def _serve(self) -> postgres.Cluster:
        cluster = postgres.prepare(self.home, password=self.passwords["postgres"], port=self.port, options=FAST)
        self._spawn("postgres", cluster.command(), signal.SIGINT, cluster.identity)
        try:
            cluster.wait(self.passwords["postgres"], seconds=30)
        except Exception as error:
            log = (self.home.logs / "postgres.log").read_text()
            raise RuntimeError(f"the test PostgreSQL did not start: {log[-2000:]}") from error
        return cluster

    def _make_template_in_given(self) -> None:
        with psycopg.connect(self.given_database, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(self.template)))
        roles.set_up_given(roles.with_database(self.given_database, self.template))
        self._migrate()

    def _migrate(self) -> None:
        commands = [["migrate", "--verbosity", "0"], *([path.stem] for path in sorted(CHECKOUT.glob(LOADERS)))]
        due = [{"name": command[0], "title": command[0], "command": command, "stamp": ""} for command in commands]
        done = subprocess.run(
            [sys.executable, "-m", "portal.ops.prepare", str(self.home.path), json.dumps(due)], cwd=CHECKOUT,
            env={**os.environ, **self.environment(), **self._database_urls(self.template),
                 "DJANGO_SETTINGS_MODULE": "portal.settings"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"the test database could not be made:\n{done.stderr[-4000:]}")

    def _stop_server(self, child: subprocess.Popen[bytes]) -> None:
        child.send_signal(signal.SIGINT)
        child.wait(timeout=30)


def _prune_cache() -> None:
    """Keep the three newest clusters: each branch has its own."""
    shutil.rmtree(CACHE / "new", ignore_errors=True)
    kept = sorted((path for path in CACHE.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    for old in kept[:-2]:
        shutil.rmtree(old, ignore_errors=True)
