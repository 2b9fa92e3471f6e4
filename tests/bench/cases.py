"""What is measured: commands from process start to report, and what one process does again and again."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from simulator import RunConfig, Session
from simulator.search.measure import Measured
from tests.bench.child import least

HALF = ("--precision", "fp16", "--partials", "fp16")
TRAIN = ("--task", "train", *HALF)
BERT = ("zoo:bert-large", *TRAIN, "--optimiser", "adamw", "--stages", "8", "--recompute", "stages")
RESNET = ("zoo:resnet50", *TRAIN, "--optimiser", "momentum")


@dataclass(frozen=True)
class Limits:
    """What is aimed at and what must be kept, in seconds of processor time and megabytes; None: only measured."""

    aim: float | None = None
    must: float | None = None
    aim_mb: float | None = None
    must_mb: float | None = None


@dataclass(frozen=True)
class Measurement:
    name: str
    cpu_seconds: float
    peak_mb: float | None
    limits: Limits

    @property
    def verdict(self) -> str:
        pairs = [(self.cpu_seconds, self.limits.aim, self.limits.must)]
        if self.peak_mb is not None:
            pairs.append((self.peak_mb, self.limits.aim_mb, self.limits.must_mb))
        if any(must is not None and value > must for value, _, must in pairs):
            return "too slow or large"
        if any(aim is not None and value > aim for value, aim, _ in pairs):
            return "kept"
        return "aim reached" if pairs[0][1] is not None else ""


WHOLE = Limits(2.0, 4.0, 300, 500)
COMMANDS: dict[str, tuple[tuple[str, ...], Limits]] = {
    "resnet50-pod16": ((*RESNET, "--system", "pod16", "--batch", "16"), WHOLE),
    "bert-large-pod16": ((*BERT, "--system", "pod16", "--batch", "4", "--accumulation", "64"), WHOLE),
    "resnet50-infer": (("zoo:resnet50", "--task", "infer", *HALF, "--system", "pod4", "--batch", "1"), Limits()),
    "bert-large-infer": (
        ("zoo:bert-large-squad", "--task", "infer", *HALF, "--system", "pod4", "--batch", "1", "--stages", "4",
         "--dim", "sequence=384"), Limits(),
    ),
    "gpt2-infer": (("zoo:gpt2-small", "--task", "infer", *HALF, "--system", "pod4", "--batch", "1"), Limits()),
    "resnet50-pod64": ((*RESNET, "--system", "pod64", "--batch", "16"), Limits()),
    "resnet50-pod256": ((*RESNET, "--system", "pod256", "--batch", "16"), Limits()),
    "resnet50-pod65536": ((*RESNET, "--system", "pod65536", "--batch", "16"), Limits()),
}  # fmt: skip


def commands(names: tuple[str, ...], times: int) -> list[Measurement]:
    """Each command's best of ``times`` runs."""
    found = []
    for name in names:
        words, limits = COMMANDS[name]
        taken = least((*words, "--json", "--quiet"), times)
        if taken.status not in (0, 3):
            raise RuntimeError(f"{name} ended with status {taken.status}")
        found.append(Measurement(name, taken.cpu_seconds, taken.peak_mb, limits))
    return found


def in_process(model: str, batches: tuple[int, ...] = (5, 7, 10, 12)) -> list[Measurement]:
    """What-ifs of one session, and candidates of a search."""
    config = RunConfig(system="pod16", batch=4, precision="fp16", partials="fp16", optimiser="momentum")
    session = Session(model, config)
    session.outcome()
    session.outcome({"batch": 16})  # the second batch is traced, later ones are not
    clocks = [{"machine": {"chip.clock": 1.3e9 + 1e7 * step}} for step in range(10)]
    sizes = [{"ipus": ipus} for ipus in (1, 2, 4, 8)]
    measured = Measured(model, config)
    for batch in (4, 16):
        measured(replace(config, batch=batch))
    candidates = [replace(config, batch=batch, accumulation=2) for batch in batches]
    return [
        _median("what-if constants", [lambda c=c: session.outcome(c) for c in clocks], Limits(0.005, 0.020)),
        _median("what-if pod size", [lambda c=c: session.outcome(c) for c in sizes], Limits(0.050, 0.300)),
        _median("what-if batch", [lambda b=b: session.outcome({"batch": b}) for b in batches], Limits(0.050, 0.300)),
        _median("candidate of a plan", [lambda c=c: measured(c) for c in candidates], Limits()),
    ]


def _median(name: str, works: list[Callable[[], object]], limits: Limits) -> Measurement:
    taken = []
    for work in works:
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return Measurement(name, statistics.median(taken), None, limits)
