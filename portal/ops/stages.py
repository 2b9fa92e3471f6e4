"""Running one check as a child process and keeping what it said. Which checks there are is in checks.py."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from portal.ops.environment import inherited
from portal.ops.home import CHECKOUT

SUMMARY = re.compile(r"^(?:=+ )?((?:\d+ \w+,? ?)+ in [\d.]+s.*?)(?: =+)?$|^ *(Tests +\d.*)$|^(Contracts: .*)$")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Outcome:
    """Whether a check passed, and everything it printed."""

    passed: bool
    output: str = ""

    @property
    def summary(self) -> str:
        """The line in which a test runner counts its tests, if there is one."""
        for line in reversed(self.output.splitlines()):
            found = SUMMARY.match(ANSI.sub("", line).strip())
            if found:
                return next(group for group in found.groups() if group)
        return ""


def run(command: list[str], *, folder: Path = CHECKOUT, environment: dict[str, str] | None = None) -> Outcome:
    """Run a check to its end, its two outputs as one."""
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment or inherited(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        return Outcome(False, f"{error.filename} is not installed.")
    return Outcome(done.returncode == 0, done.stdout)


def stream(command: list[str]) -> int:
    """Run a command in the terminal, for someone who watches one test. Returns its exit code."""
    return subprocess.run(command, cwd=CHECKOUT, env=inherited(), check=False).returncode


def same(one: Path, other: Path) -> bool:
    """Whether both files are there with the same bytes."""
    return one.exists() and other.exists() and one.read_bytes() == other.read_bytes()
