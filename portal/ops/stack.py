"""The services of one installation, as command lines: PostgreSQL, Valkey, web, worker, ticker. up.py starts them."""

import os
import signal
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from portal.ops.environment import Address
from portal.ops.home import Home
from portal.ops.postgres import Cluster
from portal.ops.supervisor import Service
from portal.ops.valkey import Valkey

SERVER_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}  # no secrets, and the same on every machine
ORDER = ("postgres", "valkey", "web", "worker", "ticker")


def postgres(cluster: Cluster) -> Service:
    """SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint."""
    return Service(
        "postgres", cluster.command(), SERVER_ENVIRONMENT, folder=Path("/"), identity=cluster.identity,
        stop_signal=signal.SIGINT, stop_grace=30.0, orphan_grace=5.0,
    )  # fmt: skip


def valkey(server: Valkey) -> Service:
    """The queue, the live layer and the cache."""
    return Service("valkey", server.command(), SERVER_ENVIRONMENT, folder=Path("/"))


def web(address: Address, certificate: tuple[Path, Path] | None, environment: dict[str, str]) -> Service:
    """One process: it holds the hub that fans live events out."""
    command = [
        sys.executable, "-m", "uvicorn", "portal.asgi:application", "--host", address.host, "--port", str(address.port),
        "--ws", "websockets-sansio", "--ws-max-size", "65536", "--workers", "1", "--no-access-log",
        "--timeout-graceful-shutdown", "3",
    ]  # fmt: skip
    if certificate:
        command += ["--ssl-certfile", str(certificate[0]), "--ssl-keyfile", str(certificate[1])]
    return Service("web", command, environment, stop_grace=6.0)


def worker(concurrency: int, environment: dict[str, str]) -> Service:
    """Celery. A stopped worker saves what it was doing and hands it back; what it does not hand back is leased."""
    command = [
        sys.executable, "-m", "celery", "--quiet", "-A", "workers.app", "worker", "-P", "prefork",
        "--concurrency", str(concurrency), "--loglevel", "INFO", "--without-gossip", "--without-mingle",
    ]  # fmt: skip
    return Service("worker", command, environment, stop_grace=12.0)


def ticker(environment: dict[str, str]) -> Service:
    """Reads rows that are due: dispatch, leases, reservations."""
    return Service("ticker", [sys.executable, "manage.py", "ticker"], environment)


def web_lives(address: Address) -> bool:
    """Whether the web process itself answers."""
    return _answers(f"{address.local}/livez")


def all_is_ready(address: Address) -> bool:
    """Whether the web process answers and finds database, queue, worker and ticker well."""
    return _answers(f"{address.local}/readyz")


def _answers(url: str) -> bool:
    """Whether `url` gives a good answer. Its certificate may be our own."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with urllib.request.urlopen(url, timeout=3, context=context) as answer:  # noqa: S310
            return int(answer.status) < 400
    except (OSError, urllib.error.URLError, ValueError):
        return False


def worker_is_ready(home: Home) -> Callable[[], bool]:
    """A check for Celery's own line in the part of the log written from now on."""
    log = home.logs / "worker.log"
    start = log.stat().st_size if log.exists() else 0

    def ready() -> bool:
        if not log.exists():
            return False
        with log.open("rb") as file:
            file.seek(start)
            return b" ready." in file.read()

    return ready
