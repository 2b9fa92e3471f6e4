"""The jail holds whatever a model makes of the process that reads it, and its parent always gets a clear answer."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from workers.jail import parent
from workers.jail.landlock import abi
from workers.jail.limits import GIB, MIB, Limits
from workers.jail.parent import ROOT, Order, Outcome
from workers.jail.scratch import open_left_behind, scratch_folder, sweep

TIGHT = Limits(memory_bytes=256 * MIB, cpu_seconds=2, wall_seconds=3, warmup_seconds=30)
HOSTILE = "tests.workers.jail.hostile"
READABLE = (*Order("").code, ROOT / "tests")
FULL = "uid+seccomp+landlock"
linux_root = pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="all walls stand only for root on Linux"
)


def do(
    folder: Path, verb: str, *, limits: Limits = TIGHT, files: dict[str, Path] | None = None, **rest: Any
) -> Outcome:
    handlers = {key: rest.pop(key) for key in ("on_event", "on_tick") if key in rest}
    order = Order(verb, rest, files or {}, module=HOSTILE, code=READABLE)
    with scratch_folder(folder / "scratch") as scratch:
        return parent.run(order, scratch=scratch, limits=limits, **handlers)


@pytest.mark.parametrize(
    ("verb", "limits", "code"),
    [
        ("loop", Limits(cpu_seconds=1, wall_seconds=100), "jail.cpu"),
        ("sleep", Limits(cpu_seconds=100, wall_seconds=1), "jail.wall"),
    ],
)
def test_endless_work_is_ended(tmp_path: Path, verb: str, limits: Limits, code: str) -> None:
    started = time.monotonic()
    outcome = do(tmp_path, verb, limits=limits)
    assert (outcome.status, outcome.code, outcome.owner) == ("killed", code, "limit")
    assert time.monotonic() - started < 60


def test_four_gigabytes_are_refused_and_we_live(tmp_path: Path) -> None:
    before = psutil.Process().memory_info().rss
    outcome = do(tmp_path, "allocate", count=4 * GIB)
    assert (outcome.status, outcome.code) == ("killed", "jail.memory")
    assert "256 MiB" in outcome.message
    assert psutil.Process().memory_info().rss - before < 100 * MIB


def test_a_claim_of_terabytes_fails_at_once(tmp_path: Path) -> None:
    outcome = do(tmp_path, "claim", count=1 << 42)
    assert outcome.code == "jail.memory"
    assert outcome.peak_bytes < 256 * MIB


@linux_root
def test_nothing_outside_can_be_reached(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    secret.chmod(0o644)
    calls = {"io_uring": 425, "clone3": 435, "bpf": 321 if platform.machine() == "x86_64" else 280}
    outcome = do(tmp_path, "try_all", forbidden=str(secret), libc_calls=calls)
    assert outcome.status == "ok"
    worked = [name for name, result in outcome.value.items() if result != "refused"]
    # without Landlock a world-readable file can be read; the level says so
    assert worked == [] if abi() else set(worked) <= {"read secret", "read password file", "list root", "write outside"}
    assert outcome.isolation == (FULL if abi() else "uid+seccomp")


def test_no_secret_and_no_portal_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_SECRET_KEY", "do-not-tell")
    monkeypatch.setenv("DATABASE_URL", "postgres://do-not-tell")
    held = os.open(__file__, os.O_RDONLY)
    os.set_inheritable(held, True)
    try:
        outcome = do(tmp_path, "surroundings")
    finally:
        os.close(held)
    assert "do-not-tell" not in str(outcome.value["environment"])
    assert outcome.value["modules"] == []
    assert len(outcome.value["files"]) <= 6  # stdin, stdout, stderr, two pipes, and the listing itself
    if os.geteuid() == 0:
        assert outcome.value["user"] >= 61_184


def test_a_given_file_is_readable_behind_closed_folders(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    model = folder / "model.bin"
    model.write_text("given")
    model.chmod(0o644)
    outcome = do(tmp_path, "read_given", files={"model": model})
    assert outcome.value == "given"


def test_a_link_in_place_of_a_given_file_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "model.bin"
    link.symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic"):
        do(tmp_path, "read_given", files={"model": link})


@pytest.mark.parametrize(
    "text",
    [
        "ffffffff00",  # a length of 4 GiB
        "0000000461626364",  # not JSON
        "000000025b5d",  # JSON, not an object
        "0000000f7b22736179223a22627265616b227d",  # an unknown message
        "00000200" + "5b" * 512,  # deep nesting
    ],
)
def test_garbage_ends_the_child(tmp_path: Path, text: str) -> None:
    started = time.monotonic()
    outcome = do(tmp_path, "say_garbage", text=text)
    assert (outcome.status, outcome.code, outcome.owner) == ("killed", "jail.protocol", "platform")
    assert time.monotonic() - started < 3


def test_a_flood_of_words_is_cut(tmp_path: Path) -> None:
    limits = Limits(memory_bytes=256 * MIB, result_bytes=4 * MIB)
    assert do(tmp_path, "flood", limits=limits).code == "jail.protocol"


def test_what_postgresql_cannot_store_is_replaced(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    outcome = do(tmp_path, "odd_strings", on_event=lambda kind, data: seen.append(data))
    assert seen == [{"message": "a\ufffdb\ufffd", "loss": None}]
    assert outcome.value == {"\ufffd": "\ufffd"}


@pytest.mark.parametrize("verb", ["die", "leave", "fail"])
def test_a_crash_is_ours_and_tells_users_nothing(tmp_path: Path, verb: str) -> None:
    outcome = do(tmp_path, verb)
    assert (outcome.status, outcome.code, outcome.owner) == ("killed", "jail.crash", "platform")
    assert "secret detail" not in outcome.message
    assert verb != "fail" or "secret detail" in outcome.diagnostics


def test_it_stops_when_asked(tmp_path: Path) -> None:
    assert do(tmp_path, "wait_for_stop", on_tick=lambda: True).value == "stopped"


def test_an_exception_of_the_caller_kills_the_child(tmp_path: Path) -> None:
    def refuse() -> bool:
        raise RuntimeError("fence is stale")

    with pytest.raises(RuntimeError, match="stale"):
        do(tmp_path, "loop", on_tick=refuse)
    assert not [child for child in psutil.Process().children() if child.name().startswith("podium-")]


def test_what_is_left_behind_is_not_trusted(tmp_path: Path) -> None:
    order = Order("leave_files", module=HOSTILE, code=READABLE)
    with scratch_folder(tmp_path / "scratch") as scratch:
        assert parent.run(order, scratch=scratch, limits=TIGHT).status == "ok"
        with open_left_behind(scratch, "good.txt", 100) as stream:
            assert stream.read() == b"good"
        (scratch / "planted").symlink_to("/etc/passwd")
        for name in ("planted", "../x", "large.bin", "missing", ".", ""):
            with pytest.raises(OSError, match=".+"), open_left_behind(scratch, name, 100):
                pass
    assert not scratch.exists()


def test_scratch_of_dead_processes_is_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f"{gone.pid}-aa").mkdir()
    (tmp_path / f"{os.getpid()}-bb").mkdir()
    sweep(tmp_path)
    assert [folder.name for folder in tmp_path.iterdir()] == [f"{os.getpid()}-bb"]


def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from workers.jail import parent\n"
        "order = parent.Order('sleep', module=sys.argv[2], code=(*parent.Order('').code, parent.ROOT / 'tests'))\n"
        "parent.run(order, scratch=Path(sys.argv[1]), limits=parent.Limits())"
    )
    folder = tmp_path / "scratch"
    folder.mkdir()
    holder = subprocess.Popen([sys.executable, "-c", code, str(folder), HOSTILE], cwd=ROOT)
    try:
        child = _first_child(holder.pid)
    finally:
        holder.kill()
        holder.wait()
    _, alive = psutil.wait_procs([child], timeout=5)
    assert alive == []


def _first_child(process: int) -> psutil.Process:
    for _ in range(200):
        for child in psutil.Process(process).children():
            if child.name() == "podium-jail":
                return child
        time.sleep(0.05)
    raise AssertionError("no child was started")


def test_where_files_cannot_be_read_safely_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root without Landlock, and the code behind a folder that only root may enter."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    monkeypatch.setattr(parent.landlock, "abi", lambda: 0)
    monkeypatch.setattr(parent, "own_user", lambda: 61_184)
    monkeypatch.setattr(parent, "ROOT", closed)
    outcome = do(tmp_path, "read_given")
    assert (outcome.status, outcome.code, outcome.owner) == ("killed", "jail.unavailable", "platform")
    assert str(closed) in outcome.diagnostics
    assert str(closed) not in outcome.message


@linux_root
def test_without_landlock_the_child_gets_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "model.bin"
    model.write_text("given")
    model.chmod(0o600)
    monkeypatch.setattr(parent.landlock, "abi", lambda: 0)
    monkeypatch.setattr(parent, "_all_may_enter", lambda folder: True)
    assert do(tmp_path, "read_given", files={"model": model}).value == "given"
