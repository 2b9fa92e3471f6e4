"""The commands around a running stack: down, status, logs, reset, manage."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import datetime

from portal.ops import environment, postgres, roles, stack, state
from portal.ops.console import LogTail, coloured, last_lines, say
from portal.ops.errors import OpsError
from portal.ops.home import CHECKOUT, Home, lock
from portal.ops.processes import end_groups
from portal.ops.state import State

NOT_RUNNING = 3  # the exit code that service managers use for it


def down(home: Home) -> int:
    """Stop the launcher of this installation, or what a dead one left."""
    found = state.running(home)
    if found is None:
        left_over = state.recover(home)
        say(
            f"Stopped {', '.join(left_over)}, left by a launcher that is gone."
            if left_over
            else "Podium is not running."
        )
        return 0
    os.kill(found.launcher.pid, signal.SIGTERM)
    end = time.monotonic() + 60
    while found.launcher.alive() and time.monotonic() < end:
        time.sleep(0.1)
    if found.launcher.alive():
        end_groups([found.launcher], first=signal.SIGKILL, grace=1)
        state.recover(home)
    say("Stopped. The data is kept: ./podium up starts it again.")
    return 0


def status(home: Home) -> int:
    """Print what runs. The exit code is 0 when all of it does, 3 when nothing does, 1 between."""
    found = state.running(home)
    if found is None:
        say(f"Podium is not running (data in {home.path}): ./podium up starts it.")
        return NOT_RUNNING
    say(f"Podium at {found.facts.get('url', 'an address not known yet: it is starting')}  (data in {home.path})")
    alive = [_print_service(name, found) for name in found.services]
    return 0 if all(alive) else 1


def _print_service(name: str, found: State) -> bool:
    each, mark = found.services[name], found.marks()[name]
    alive = mark.alive()
    since = datetime.fromtimestamp(mark.started).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    words = coloured("running", 32) if alive else coloured("down, starts again soon", 31)
    restarts = f", restarted {each['restarts']} times" if each["restarts"] else ""
    say(f"  {name:<9} {words}  process {mark.pid}, since {since}{restarts}")
    return alive


def logs(options: argparse.Namespace, home: Home) -> int:
    """Print the last lines of the services' logs; with -f, what comes after too."""
    names = [options.service] if options.service else list(stack.ORDER)
    files = {name: home.logs / f"{name}.log" for name in names}
    tail = LogTail(files)
    for name, path in files.items():
        for line in last_lines(path, options.lines):
            say(f"{name:<8} {line}")
    while options.follow:
        tail.show()
        time.sleep(0.3)
    return 0


def reset(options: argparse.Namespace, home: Home) -> int:
    """Delete all data of this installation, after asking."""
    if not home.path.exists():
        say(f"There is no data at {home.path}.")
        return 0
    if not _is_a_home(home):
        raise OpsError("reset.not_a_home", f"{home.path} does not look like a Podium data folder: nothing was deleted.")
    if not options.yes and not _agreed(home):
        say("Nothing was deleted.")
        return 1
    home.create()
    held = lock(home)
    if held is None:
        raise OpsError("reset.running", "Podium is running: ./podium down first.")
    state.recover(home)
    postgres.remove(home)
    shutil.rmtree(home.path)
    held.close()
    say(f"Deleted {home.path}.")
    if os.environ.get("DATABASE_URL"):
        say("The database at DATABASE_URL was not touched.")
    return 0


def manage(arguments: list[str], home: Home) -> int:
    """Run Django's manage.py with the environment of the running stack, or one that leads nowhere when it is down."""
    found = state.running(home)
    if found is None:
        print("podium: it is not running, so this command has no database: ./podium up first.", file=sys.stderr)
    variables = _of_running(home, found) if found else environment.bare(home.create())
    return subprocess.run(
        [sys.executable, "manage.py", *arguments], cwd=CHECKOUT, env=variables, check=False
    ).returncode


def _of_running(home: Home, found: State) -> dict[str, str]:
    passwords = home.passwords()
    given = os.environ.get("DATABASE_URL")
    if given:
        databases = roles.set_up_given(given)
    else:
        port = found.facts["postgres_port"]
        owner = f"postgresql://{roles.OWNER}:{passwords[roles.OWNER]}@127.0.0.1:{port}/{roles.DATABASE}"
        databases = roles.addresses(owner, passwords)
    own = f"redis://:{passwords['valkey']}@127.0.0.1:{found.facts.get('valkey_port', '')}/0"
    redis_url = os.environ.get("REDIS_URL") or own
    return environment.for_services(home, url=found.facts.get("url", ""), databases=databases, redis_url=redis_url)


def _is_a_home(home: Home) -> bool:
    return home.secret_file.exists() or home.run.is_dir()


def _agreed(home: Home) -> bool:
    if not sys.stdin.isatty():
        raise OpsError("reset.no_answer", "Nobody is there to answer: ./podium reset --yes deletes without asking.")
    return input(f"Delete all accounts, models, jobs and results in {home.path}? Type yes: ").strip().lower() == "yes"
