"""One whole run: simulate, then compute the real numbers on the CPU and tell both as events. It stores nothing."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.numerics.checkpoint import Checkpoints
from simulator.numerics.inference import infer
from simulator.numerics.placing import Digest, summary
from simulator.numerics.training import Trained, train
from simulator.pipeline import open_model, simulate_program
from simulator.program import Array, Program

METRICS_PER_SECOND = 20
OnEvent = Callable[[str, dict[str, Any]], None]
ShouldStop = Callable[[], bool]


@dataclass
class RunResult:
    """What a run leaves. A loss that is not finite is None; ``arrays`` are saved under ``file``."""

    task: str
    steps: int
    losses: list[tuple[int, float | None]]
    output_digest: str
    samples: int
    stopped: bool
    arrays: dict[str, Array] = field(repr=False)
    file: str = "outputs.npz"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able summary, without the arrays."""
        return {
            "task": self.task,
            "steps": self.steps,
            "final_loss": self.losses[-1][1] if self.losses else None,
            "losses": [[number, loss] for number, loss in self.losses],
            "output_digest": self.output_digest,
            "outputs_summary": summary(self.arrays),
            "samples": self.samples,
            "stopped": self.stopped,
        }

    def save(self, folder: str | Path) -> list[Path]:
        """Write the first batch's outputs or the trained weights as .npz; the paths written."""
        path = Path(folder) / self.file
        np.savez(path, allow_pickle=False, **_members(self.arrays))
        return [path]


def _members(arrays: dict[str, Array]) -> dict[str, Array]:
    """Member names that are safe as file names on any system and differ from each other."""
    members: dict[str, Array] = {}
    for name, array in arrays.items():
        plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:100].lstrip(".") or "tensor"
        members[plain if plain not in members else f"{plain}__{len(members)}"] = array
    return members


def run(
    model: str | Path,
    config: RunConfig,
    *,
    on_event: OnEvent,
    should_stop: ShouldStop | None = None,
    checkpoints: Checkpoints | None = None,
) -> RunResult:
    """Simulate and execute. Raises SimulatorError, ``memory.does_not_fit`` after the report has been told.

    With ``checkpoints``, training writes its state now and then, tells ``checkpoint {step, file}``, and may resume.
    """

    def phase(name: str, fraction: float) -> None:
        on_event("phase", {"phase": name, "fraction": fraction})

    program, sha256 = open_model(model, config, on_progress=phase)
    report = simulate_program(program, config, model=model, sha256=sha256, on_progress=phase)
    on_event("report", dict(report))
    for code, message in program.notes:
        on_event("log", {"level": "warning", "message": f"{message} ({code})"})
    if not report["fits"]:
        raise does_not_fit(report)
    told = _Telling(on_event, report, config)
    phase("execute", 0.0)
    if config.training:
        result = _train(program, config, report, told, should_stop, checkpoints)
    else:
        result = _infer(program, config, report, told, should_stop)
    phase("execute", 1.0)
    return result


def does_not_fit(report: Any) -> SimulatorError:
    """The refusal that a report of too much memory becomes."""
    overflow = report["memory"]["overflow"] or {}
    tile, over = overflow.get("tile"), overflow.get("over_by")
    return SimulatorError(
        "memory.does_not_fit",
        f"The model does not fit: tile {tile} needs {over} bytes more than it has. See the report for what would help.",
        params={"tile": tile, "over_by": over, "remedies": overflow.get("remedies", [])},
    )


class _Telling:
    """Turns finished steps into metric, progress and log events, at most so many a second."""

    def __init__(self, on_event: OnEvent, report: Any, config: RunConfig) -> None:
        self._on_event = on_event
        self._step_seconds = float(report["step_seconds"])
        self._rate = float(report["samples_per_second"])
        self._total = config.steps
        self._began = time.monotonic()
        self._last = -math.inf
        self._held: dict[str, Any] | None = None
        self._finite = True

    def step(self, number: int, loss: float | None) -> None:
        now = time.monotonic()
        if loss is not None and not math.isfinite(loss) and self._finite:
            self._finite = False
            self.log("warning", f"The loss is not finite at step {number}. Try a smaller learning rate.")
        metric: dict[str, Any] = {
            "step": number,
            "simulated_seconds": number * self._step_seconds,
            "samples_per_second": self._rate,
            "wall_seconds": now - self._began,
        }
        if loss is not None:
            metric["loss"] = loss if math.isfinite(loss) else None
        self._held = metric
        if number in (1, self._total) or now - self._last >= 1 / METRICS_PER_SECOND:
            self._last = now
            self.flush()

    def flush(self) -> None:
        """Send the latest metric if it has not been sent: the last step of a run that was stopped."""
        if self._held is not None:
            self._on_event("metric", self._held)
            self._on_event("progress", {"done": self._held["step"], "total": self._total})
            self._held = None

    def checkpoint(self, step: int, file: str) -> None:
        """Tell of a written checkpoint, after the metric of its step."""
        self.flush()
        self._on_event("checkpoint", {"step": step, "file": file})

    def log(self, level: str, message: str) -> None:
        self._on_event("log", {"level": level, "message": message})


def _train(
    program: Program,
    config: RunConfig,
    report: Any,
    told: _Telling,
    should_stop: ShouldStop | None,
    checkpoints: Checkpoints | None,
) -> RunResult:
    replicas = int(report["parallel"]["replicas"])
    told.log("info", f"Training on {config.dataset}: {config.steps} steps of {replicas} x {config.batch} samples.")
    done: Trained = train(
        program,
        config,
        replicas=replicas,
        on_step=told.step,
        should_stop=should_stop,
        checkpoints=checkpoints,
        on_checkpoint=told.checkpoint,
    )
    told.flush()
    if done.skipped and config.precision == "fp16":
        told.log("warning", f"{done.skipped} steps overflowed float16 and changed nothing.")
    digest = Digest()
    digest.add(done.weights)
    losses = [(number, loss if math.isfinite(loss) else None) for number, loss in done.losses]
    return RunResult(
        task="train",
        steps=len(losses),
        losses=losses,
        output_digest=digest.hexadecimal(),
        samples=len(losses) * replicas * program.batch,
        stopped=done.stopped,
        arrays=done.weights,
        file="weights.npz",
    )


def _infer(
    program: Program, config: RunConfig, report: Any, told: _Telling, should_stop: ShouldStop | None
) -> RunResult:
    told.log("info", f"Inference: {config.steps} batches of {program.batch} samples on {config.dataset} inputs.")
    done = infer(program, config, on_batch=lambda number: told.step(number, None), should_stop=should_stop)
    told.flush()
    return RunResult(
        task="infer",
        steps=done.batches,
        losses=[],
        output_digest=done.digest,
        samples=done.batches * program.batch,
        stopped=done.stopped,
        arrays=done.first,
    )
