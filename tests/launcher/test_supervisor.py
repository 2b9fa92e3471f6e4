"""The supervisor with real processes: restarts, and no orphans however the launcher ends."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from portal.ops import lifecycle, state
from portal.ops.home import CHECKOUT, Home
from portal.ops.processes import Mark, group_members


def eventually(check: Callable[[], object], seconds: float = 40.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if check():
            return True
        time.sleep(0.05)
    return False


def groups(home: Home) -> list[Mark]:
    found = state.read(home)
    return list(found.marks().values()) if found else []


def members(marks: list[Mark]) -> list[int]:
    return [pid for each in marks for pid in group_members(each)]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "a home with spaces").create()


@pytest.fixture
def launcher(home: Home) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-m", "tests.launcher.stand", str(home.path)], cwd=CHECKOUT)
    # both services, each with its child
    assert eventually(lambda: len(groups(home)) == 2 and len(members(groups(home))) == 4)
    yield process
    process.kill()
    process.wait()
    state.recover(home, grace=0.1)


def test_a_killed_service_starts_again_and_its_children_do_not_stay(
    home: Home, launcher: subprocess.Popen[bytes]
) -> None:
    before = state.read(home)
    assert before is not None
    victim = before.marks()["second"]
    os.kill(victim.pid, signal.SIGKILL)
    assert eventually(lambda: (now := state.read(home)) and now.services["second"]["restarts"] == 1)
    after = state.read(home)
    assert after is not None
    assert after.marks()["first"] == before.marks()["first"]
    assert after.marks()["second"].pid != victim.pid
    assert eventually(lambda: not group_members(victim))


def test_a_service_that_keeps_falling_is_tried_ever_more_slowly(home: Home, launcher: subprocess.Popen[bytes]) -> None:
    times = []
    for restarts in (1, 2):
        found = state.read(home)
        assert found is not None
        began = time.monotonic()
        os.kill(found.marks()["first"].pid, signal.SIGKILL)
        assert eventually(lambda n=restarts: (now := state.read(home)) and now.services["first"]["restarts"] == n)
        times.append(time.monotonic() - began)
    assert times[1] > times[0] + 0.3


def test_sigterm_stops_everything_and_removes_the_state(home: Home, launcher: subprocess.Popen[bytes]) -> None:
    marks = groups(home)
    launcher.terminate()
    assert launcher.wait(timeout=20) == 0
    assert members(marks) == []
    assert not home.state_file.exists()


def test_kill_9_of_the_launcher_leaves_no_orphans(home: Home, launcher: subprocess.Popen[bytes]) -> None:
    marks = groups(home)
    launcher.kill()
    launcher.wait()
    assert eventually(lambda: not members(marks))
    assert eventually(lambda: not home.state_file.exists())


def test_recovery_ends_what_is_left_when_the_watchdog_died_too(home: Home, launcher: subprocess.Popen[bytes]) -> None:
    marks = groups(home)
    os.kill(launcher.pid, signal.SIGSTOP)  # so that it cannot start another watchdog
    for child in psutil.Process(launcher.pid).children():
        if "portal.ops.watchdog" in child.cmdline():
            child.kill()
    launcher.kill()
    launcher.wait()
    time.sleep(0.3)
    assert members(marks), "the stubborn grandchildren are still there"
    assert set(state.recover(home, grace=0.5)) == {"first", "second"}
    assert members(marks) == []


def test_down_stops_a_running_launcher_and_nothing_else(home: Home, launcher: subprocess.Popen[bytes]) -> None:
    marks = groups(home)
    bystander = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        assert lifecycle.down(home) == 0
        assert launcher.wait(timeout=5) == 0
        assert members(marks) == []
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_number_given_to_a_stranger_is_left_alone(home: Home) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        stale = f'{{"pid": {stranger.pid}, "started": 1000000.0, "restarts": 0}}'
        home.state_file.write_text(
            f'{{"launcher": {{"pid": 1, "started": 0}}, "facts": {{}}, "services": {{"web": {stale}}}}}'
        )
        assert state.recover(home) == []
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_torn_state_file_is_as_none(home: Home) -> None:
    home.state_file.write_text('{"launcher": {"pid": 1')
    assert state.read(home) is None
    assert state.recover(home) == []
    assert lifecycle.status(home) == lifecycle.NOT_RUNNING
