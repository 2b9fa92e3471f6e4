"""A command that reads a model is stopped when that takes too much; everything else of it passes through."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import os, sys, time
from simulator.command.watched import watched
from simulator.frontends.limits import Limits
from simulator.frontends.watching import reading

def spin():
    with reading():
        while True:
            pass

def hoard():
    with reading():
        held = [bytearray(16 << 20) for _ in range(64)]
        for part in held:
            part[::4096] = b"x" * len(part[::4096])
        time.sleep(60)

def after():
    with reading():
        pass
    held = bytearray(200 << 20)
    held[::4096] = b"x" * len(held[::4096])
    began = time.process_time()
    while time.process_time() - began < 0.6:
        pass
    print("done", flush=True)
    return 3

def sleeper():
    print(os.getpid(), flush=True)
    time.sleep(60)
    return 0

def broken():
    raise RuntimeError("unforeseen")

limits = Limits(reading_seconds=0.5, reading_bytes=100 << 20)
sys.exit(watched(globals()[sys.argv[1]], as_json=True, limits=limits))
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


def _run(work: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT, work]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=ENVIRONMENT)


@pytest.mark.parametrize(("work", "what"), [("spin", "time"), ("hoard", "memory")])
def test_reading_that_takes_too_much_is_stopped_with_a_sentence(work: str, what: str) -> None:
    began = time.monotonic()
    done = _run(work)
    assert time.monotonic() - began < 30
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert (error["code"], error["owner"], error["params"]["what"]) == ("model.took_too_much", "user", what)
    assert done.stderr.strip().endswith("[model.took_too_much]")


def test_what_comes_after_reading_is_not_limited_and_its_status_is_the_commands() -> None:
    done = _run("after")
    assert (done.returncode, done.stdout) == (3, "done\n")


def test_an_unforeseen_end_is_ours() -> None:
    done = _run("broken")
    assert done.returncode == 5
    assert "unforeseen" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_child_ends_with_its_parent(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, "sleeper"], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(number)
        assert parent.wait(20) in (128 + number, -number)
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    pytest.fail("the child outlived its parent")
