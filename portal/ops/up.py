"""`./podium up`: from an installed checkout to a healthy stack, then the log until Ctrl-C."""

import argparse
import os
import shutil
import signal
import time
from functools import partial

from portal.ops import environment, frontend, postgres, roles, stack, state, tls, valkey
from portal.ops.console import LogTail, coloured, last_lines, say, step
from portal.ops.database import bring_up_to_date, told_once
from portal.ops.environment import Address
from portal.ops.errors import OpsError
from portal.ops.home import Home, lock
from portal.ops.ports import accepts, is_free, pick, private
from portal.ops.supervisor import Supervisor

LARGEST_LOG = 20_000_000  # bytes; then the log starts over and one old part is kept
PATIENCE = 90.0  # seconds that a process may take to be ready, on a busy machine
TRIES = 5  # a port may be taken between looking and listening


def up(options: argparse.Namespace, home: Home) -> int:
    """Start everything and stay until told to stop. Returns the exit code."""
    began = time.monotonic()
    home.create()
    held = lock(home)
    if held is None:
        found = state.read(home)
        where = f" at {found.facts.get('url', '')}" if found else ""
        raise OpsError("up.already_running", f"Podium is already running{where}: ./podium down stops it.")
    left_over = state.recover(home)
    if left_over:
        say(f"· The last run ended without stopping {', '.join(left_over)}: stopped now.")
    _trim_logs(home)
    supervisor = Supervisor(home, {"home": str(home.path)})
    _stop_on_signals(supervisor)
    try:
        home.check_space()
        frontend.build()
        address = _start(options, home, supervisor)
        supervisor.starting = False
        _greet(home, address, time.monotonic() - began)
        _stay(home, supervisor)
        say("· Stopping ...")
    except OpsError:
        if not supervisor.stopping:  # else the step failed because we were told to stop
            raise
    finally:
        supervisor.stop()
        held.close()
    say("Stopped. The data is kept: ./podium up starts it again.")
    return 0


def _start(options: argparse.Namespace, home: Home, supervisor: Supervisor) -> Address:
    redis_url = os.environ.get("REDIS_URL") or _start_valkey(home, supervisor)
    if not valkey.answers(redis_url):
        raise OpsError("redis.refused", "REDIS_URL does not answer: check the address and its password.")
    databases = _databases(home, supervisor)
    address = _address(options, home)
    variables = environment.for_services(home, url=address.url, databases=databases, redis_url=redis_url)
    bring_up_to_date(home, variables)
    with step("starting the web server, the workers and the ticker"):
        return _start_podium(options, home, supervisor, address, environment.without_owner(variables))


def _start_valkey(home: Home, supervisor: Supervisor) -> str:
    for _ in range(TRIES):
        server = valkey.prepare(home, password=home.passwords()["valkey"], port=private())
        supervisor.start(stack.valkey(server))
        if supervisor.wait_ready("valkey", server.answers, 20.0):
            supervisor.note(valkey_port=str(server.port))
            return server.url()
        supervisor.drop("valkey")
    raise _did_not_start(home, "valkey")


def _databases(home: Home, supervisor: Supervisor) -> dict[str, str]:
    """The addresses of the database for the three roles: a given one's, or the embedded one's, started here."""
    given = os.environ.get("DATABASE_URL")
    if given:
        return roles.set_up_given(given)
    passwords = home.passwords()
    for _ in range(TRIES):
        cluster = postgres.prepare(home, password=passwords["postgres"], port=private())
        supervisor.start(stack.postgres(cluster))
        if supervisor.wait_ready("postgres", partial(accepts, cluster.port), 60.0):
            cluster.wait(passwords["postgres"], 120.0)
            supervisor.note(postgres_port=str(cluster.port))
            return roles.set_up_embedded(cluster, passwords)
        supervisor.drop("postgres")
    raise _did_not_start(home, "postgres")


def _address(options: argparse.Namespace, home: Home) -> Address:
    """Where to listen: the port asked for, or of the last time, when it is free; else another, and say so."""
    kept = home.path / "port"
    wanted = options.port or (int(kept.read_text()) if kept.exists() else 8000)
    port = pick(wanted, options.host)
    if port != wanted:
        say(f"· Port {wanted} is taken: using {port}.")
    return Address(options.host, port, options.tls, options.public_url or os.environ.get("PODIUM_URL", ""))


def _start_podium(
    options: argparse.Namespace, home: Home, supervisor: Supervisor, address: Address, variables: dict[str, str]
) -> Address:
    """Start the three processes together and wait for all; with another port when this one was taken meanwhile."""
    for _ in range(TRIES):
        certificate = tls.certificate(home.path / "tls", address.names) if address.tls else None
        variables = variables | environment.of_address(address)
        worker_is_ready = stack.worker_is_ready(home)
        supervisor.start(stack.web(address, certificate, variables))
        supervisor.start(stack.worker(options.workers, variables))
        supervisor.start(stack.ticker(variables))
        if supervisor.wait_ready("web", partial(stack.web_lives, address), PATIENCE):
            for name, ready in (("worker", worker_is_ready), ("ticker", partial(stack.all_is_ready, address))):
                if not supervisor.wait_ready(name, ready, PATIENCE):
                    raise _did_not_start(home, name)
            (home.path / "port").write_text(str(address.port))
            supervisor.note(url=address.url, local=address.local)
            return address
        if supervisor.stopping or is_free(address.port, address.host):
            break
        for name in ("ticker", "worker", "web"):
            supervisor.drop(name)
        address = Address(address.host, pick(address.port + 1, address.host), address.tls, address.public_url)
        say(f"· The port was taken meanwhile: using {address.port}.")
    raise _did_not_start(home, "web")


def _did_not_start(home: Home, name: str) -> OpsError:
    log = home.logs / f"{name}.log"
    lines = "".join(f"\n    {line}" for line in last_lines(log, 12))
    return OpsError(f"{name}.did_not_start", f"{name} did not start; the end of {log} says:{lines}")


def _greet(home: Home, address: Address, seconds: float) -> None:
    say("")
    say(coloured(f"Podium is ready at {address.url}", 1) + f"  (started in {seconds:.1f} s)")
    if address.local != address.url:
        say(f"  on this machine also {address.local}")
    if address.tls:
        print_of_certificate = tls.fingerprint(home.path / "tls" / "certificate.pem")
        say(f"  its certificate is self-signed, SHA-256 {print_of_certificate}")
    if not address.tls and address.host not in ("127.0.0.1", "localhost", "::1") and not address.public_url:
        say("  everybody on this network can reach it, and read along: --tls encrypts", warn=True)
    if told_once(home).exists():
        say(f"  {told_once(home).read_text()}\n  (shown this once)")
        told_once(home).unlink()
    say("  Ctrl-C stops it. What follows is its log.")
    say("")


def _stay(home: Home, supervisor: Supervisor) -> None:
    tail = LogTail({name: home.logs / f"{name}.log" for name in stack.ORDER})
    trimmed = time.monotonic()
    while not supervisor.stopping:
        tail.show()
        supervisor.tend()
        if time.monotonic() - trimmed > 60:
            trimmed = time.monotonic()
            _trim_logs(home)
        time.sleep(0.2)
    tail.show()


def _trim_logs(home: Home) -> None:
    """Start a long log over. The services append to it, so it is emptied where it is."""
    for name in stack.ORDER:
        log = home.logs / f"{name}.log"
        if log.exists() and log.stat().st_size > LARGEST_LOG:
            shutil.copyfile(log, log.with_suffix(".log.1"))
            os.truncate(log, 0)


def _stop_on_signals(supervisor: Supervisor) -> None:
    def stop(number: int, frame: object) -> None:
        supervisor.hurry = supervisor.stopping and number == signal.SIGINT
        supervisor.stopping = True
        if supervisor.starting:  # also ends the command that a step is waiting for
            supervisor.starting = False
            raise OpsError("up.stopped", "Stopped while starting.")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
