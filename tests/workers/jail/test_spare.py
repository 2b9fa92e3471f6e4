"""A spare child waits warm and unused; it serves one order, and only the process that started it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from workers.jail import parent, process
from workers.jail.limits import Limits
from workers.jail.parent import Order
from workers.jail.scratch import scratch_folder


@pytest.fixture(autouse=True)
def no_spare() -> Iterator[None]:
    yield
    if process._spare is not None:
        process._spare.end()
        process._spare = None


def prepared() -> psutil.Process:
    """A spare that has finished its imports."""
    process.prepare()
    assert process._spare is not None
    waiting = psutil.Process(process._spare.process.pid)
    for _ in range(600):
        if waiting.name() == "podium-spare":
            return waiting
        time.sleep(0.1)
    raise AssertionError("the spare did not come up")


def inspect(folder: Path, content: bytes) -> parent.Outcome:
    model = folder / "m.onnx"
    model.write_bytes(content)
    with scratch_folder(folder / "scratch") as scratch:
        return parent.run(Order("inspect", {"name": "m"}, {"model": model}), scratch=scratch, limits=Limits())


def test_it_serves_one_order(tmp_path: Path) -> None:
    spare = prepared()
    assert "DATABASE_URL" not in spare.environ()
    outcome = inspect(tmp_path, b"<html>")
    assert (outcome.status, outcome.code) == ("refused", "model.not_onnx")
    assert not spare.is_running()
    assert process._spare is None
    assert inspect(tmp_path, b"").code == "model.empty_file"


def test_one_is_enough() -> None:
    first = prepared()
    process.prepare()
    assert process._spare is not None
    assert process._spare.process.pid == first.pid


def test_a_dead_one_is_replaced(tmp_path: Path) -> None:
    spare = prepared()
    spare.kill()
    spare.wait()
    assert inspect(tmp_path, b"").code == "model.empty_file"
    process.prepare()
    assert process._spare is not None
    assert process._spare.process.poll() is None


def test_a_fork_leaves_it_alone() -> None:
    spare = prepared()
    assert process._spare is not None
    process._spare_of = os.getppid()  # as it looks from a forked process
    other = process.take(process.STANDARD)
    try:
        assert other.process.pid != spare.pid
    finally:
        other.end()
    assert spare.is_running()


def test_none_is_kept_where_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "ROOM_FOR_SPARE", 1 << 60)
    process.prepare()
    assert process._spare is None
