"""The launcher with the whole product under it: a second installation beside the first, open to the network, killed."""

import os
import shutil
import signal
import ssl
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from portal.ops import state
from portal.ops.environment import network_address
from portal.ops.home import Home
from tests.e2e import stack as stacks
from tests.e2e.stack import Stack

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder with spaces below a parent closed to others, as a home directory of root is."""
    parent = Path(tempfile.mkdtemp(prefix="podium e2e "))
    yield parent / "data folder"
    shutil.rmtree(parent, ignore_errors=True)


def ready(url: str) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with urllib.request.urlopen(f"{url}/readyz", context=context, timeout=10) as answer:
        return bool(answer.status == 200)


def of_home(home: Path) -> list[str]:
    """The command lines of every process that carries this data folder in its environment or arguments."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("PODIUM_HOME") == str(home) or str(home) in " ".join(process.cmdline()):
                found.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return found


def test_status_and_a_second_up_of_the_same_folder(stack: Stack) -> None:
    status = stack.run("status")
    assert status.returncode == 0
    assert stack.url in status.stdout
    assert all(name in status.stdout for name in ("postgres", "valkey", "web", "worker", "ticker"))
    again = stack.run("up")
    assert again.returncode == 1
    assert "already running" in again.stderr
    assert stack.run("reset", "--yes").returncode == 1, "a running installation is not deleted"
    assert ready(stack.url)


def test_two_side_by_side_and_kill_9_of_one_launcher(stack: Stack, folder: Path) -> None:
    port = stack.url.rpartition(":")[2]
    second = stacks.start("--port", port, "--host", "0.0.0.0", "--tls", home=folder)
    try:
        assert f"Port {port} is taken" in second.output.read_text()
        assert second.url.startswith(f"https://{network_address()}:")
        assert ready(second.url)
        assert ready(second.url.replace(network_address(), "127.0.0.1"))
        assert "Operator operator@podium.local" in second.output.read_text()

        os.kill(second.process.pid, signal.SIGKILL)
        second.process.wait()
        end = time.monotonic() + 15
        while of_home(folder) and time.monotonic() < end:
            time.sleep(0.2)
        assert of_home(folder) == []
        assert ready(stack.url), "the other installation did not notice"

        began = time.monotonic()
        second = stacks.start(home=folder)
        seconds = time.monotonic() - began
        assert ready(second.url)
        said = second.output.read_text()
        assert "Operator operator@podium.local" not in said, "the password is shown once"
        assert "bringing the database up to date" not in said, f"nothing had changed, and it took {seconds:.1f} s"
        assert second.run("down").returncode == 0
        assert of_home(folder) == []
        assert state.running(Home(folder)) is None
    finally:
        second.stop()
    assert not folder.exists()
