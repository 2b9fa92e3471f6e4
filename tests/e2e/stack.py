"""A whole Podium started with `./podium up` in a folder of its own, for tests that need all of it."""

import os
import re
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from portal.ops import state
from portal.ops.home import CHECKOUT, Home
from portal.ops.ports import any_free

NOT_PASSED_ON = ("DATABASE_URL", "DATABASE_APP_URL", "DATABASE_SYSTEM_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE")
NOT_PASSED_PREFIX = "PODIUM_"


@dataclass
class Stack:
    """The running launcher: its address, its data folder, and what it printed."""

    process: subprocess.Popen[bytes] | None
    home: Path
    output: Path
    url: str = ""

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another ./podium command for the same data folder."""
        return subprocess.run(
            [CHECKOUT / "podium", *arguments], env=environment(self.home), capture_output=True, text=True, check=False
        )

    def stop(self) -> None:
        """As Ctrl-C does, then delete everything."""
        assert self.process is not None, "a stack that was there before is not ours to stop"
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.run("reset", "--yes")
        self.output.unlink(missing_ok=True)


def environment(home: Path) -> dict[str, str]:
    """Ours, without what names other servers or another data folder."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in NOT_PASSED_ON and not name.startswith(NOT_PASSED_PREFIX)
    }
    return {**kept, "PODIUM_HOME": str(home)}


def running_in(home: Path) -> Stack:
    """The Podium that somebody runs in this data folder: starting one for each try of a test takes half a minute."""
    found = state.running(Home(home))
    assert found is not None, f"no Podium runs in {home}"
    return Stack(None, home, home / "logs" / "web.log", found.facts["local"])


def start(*arguments: str, seconds: float = 240.0, home: Path | None = None) -> Stack:
    """Run `./podium up` until it says that it is ready, on a port of the system's choice."""
    home = home or Path(tempfile.mkdtemp(prefix="podium-e2e-"))
    output = home.with_name(home.name + ".log")
    with output.open("wb") as file:
        process = subprocess.Popen(
            [CHECKOUT / "podium", "up", "--port", str(any_free()), *arguments],
            env=environment(home), stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
    stack = Stack(process, home, output)
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        found = re.search(r"Podium is ready at (\S+)", output.read_text(errors="replace"))
        if found:
            stack.url = found.group(1)
            return stack
        time.sleep(0.1)
    said = output.read_text(errors="replace")
    stack.stop()
    raise AssertionError(f"./podium up did not become ready:\n{said[-4000:]}")
