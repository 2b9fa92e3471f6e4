"""What a search settles by itself, says of itself while it runs, and does when somebody presses Ctrl-C."""

from __future__ import annotations

import signal

from simulator import RunConfig
from simulator.search.command import _interrupts
from simulator.search.plan import plan

CONFIG = RunConfig(system="m2000", task="infer", precision="fp16", ipus=1)


def test_partials_that_are_left_open_are_fp16_and_said() -> None:
    found = plan("zoo:mnist", CONFIG, candidates=4)
    assert found.best is not None
    assert found.best.config.partials == "fp16"
    assert "search.partials_open" in dict(found.notes)


def test_partials_that_are_given_stay() -> None:
    found = plan("zoo:mnist", CONFIG, fixed=frozenset({"partials"}), candidates=4)
    assert {trial.config.partials for trial in found.trials} == {"fp32"}
    assert "search.partials_open" not in dict(found.notes)


def test_it_tells_how_far_it_is() -> None:
    told: list[tuple[str, float]] = []
    plan("zoo:mnist", CONFIG, candidates=4, on_progress=lambda phase, done: told.append((phase, done)))
    search = [done for phase, done in told if phase == "search"]
    assert search == sorted(search)
    assert search[-1] == 1.0
    assert [told[0], told[-1]] == [("open", 0.0), ("verify", 1.0)]


def test_ctrl_c_ends_it_with_the_best_so_far() -> None:
    before = signal.getsignal(signal.SIGINT)
    tried: list[float] = []

    def pressed(phase: str, done: float) -> None:
        tried.extend([done] * (phase == "search"))
        if phase == "search" and len(tried) == 3:
            signal.raise_signal(signal.SIGINT)

    try:
        found = plan("zoo:mnist", CONFIG, on_progress=pressed, cancelled=_interrupts())
    finally:
        signal.signal(signal.SIGINT, before)
    assert (found.status, found.ended, len(tried)) == ("found_so_far", "cancelled", 3)
    assert found.verified
