"""What a launcher wrote down about itself, read by another: status, down, and recovery after a crash."""

import json
import signal
from dataclasses import dataclass
from typing import Any

from portal.ops.home import Home
from portal.ops.processes import Mark, end_groups

KEEPERS = {"valkey": signal.SIGTERM, "postgres": signal.SIGINT}  # end after those that write to them


@dataclass(frozen=True)
class State:
    """The launcher, its services by name, and facts (`url`, `postgres_port`, ...)."""

    launcher: Mark
    services: dict[str, dict[str, Any]]
    facts: dict[str, str]

    def marks(self) -> dict[str, Mark]:
        """The process of each service, in the order they were started."""
        return {name: Mark(each["pid"], each["started"]) for name, each in self.services.items()}


def read(home: Home) -> State | None:
    """The state as last written, or None when there is none (or none that can be read: a crash of the machine)."""
    try:
        raw = json.loads(home.state_file.read_text())
        return State(Mark(**raw["launcher"]), raw["services"], raw["facts"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def running(home: Home) -> State | None:
    """The state of a launcher that is alive now."""
    state = read(home)
    return state if state is not None and state.launcher.alive() else None


def recover(home: Home, grace: float = 5.0) -> list[str]:
    """End what a dead launcher left running, the servers of data last. Returns the names of what was found."""
    state = read(home)
    if state is None:
        return []
    marks = state.marks()
    names = {mark.pid: name for name, mark in marks.items()}
    writers = [mark for name, mark in marks.items() if name not in KEEPERS]
    found = end_groups(writers, first=signal.SIGTERM, grace=grace)
    for name, first in KEEPERS.items():
        found += end_groups([marks[name]] if name in marks else [], first=first, grace=grace)
    home.state_file.unlink(missing_ok=True)
    return [names[mark.pid] for mark in found]
