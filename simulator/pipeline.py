"""The whole simulation on one screen: load, trace, parallelise, plan, schedule, allocate, report."""

from __future__ import annotations

import contextlib
import hashlib
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from simulator.config import RunConfig
from simulator.frontends.onnx.importer import load
from simulator.graph.trace import trace
from simulator.memory.fit import overflow
from simulator.memory.tilemap import memory_map
from simulator.parallel.replicas import data_parallel
from simulator.planner.assign import Options, assign
from simulator.program import Program
from simulator.report.build import Report, build
from simulator.report.origins import origins_of
from simulator.report.parts import Parts
from simulator.schedule.timeline import timeline
from simulator.zoo.catalogue import is_zoo
from simulator.zoo.opening import open_zoo

Progress = Callable[[str, float], None]


def simulate(
    model: str | Path,
    config: RunConfig,
    *,
    origins: Mapping[str, str] | None = None,
    on_progress: Progress | None = None,
) -> Report:
    """The report of one step of ``model`` (a path or "zoo:name") on the slice that ``config`` names.

    ``origins`` says of settings whether they are "given", "published" or "assumed"; without it, those that differ
    from their default count as given.
    Raises SimulatorError for a model or settings that cannot be simulated; not fitting is told in the report.
    """
    program, sha256 = open_model(model, config, on_progress=on_progress)
    return simulate_program(program, config, sha256=sha256, origins=origins, on_progress=on_progress)


def open_model(model: str | Path, config: RunConfig, *, on_progress: Progress | None = None) -> tuple[Program, str]:
    """The Program of a path or "zoo:name", and the SHA-256 of its bytes (of a zoo model: its graph and weight rules)."""
    _tell(on_progress, "load", 0.0)
    if isinstance(model, str) and is_zoo(model):
        program, sha256 = open_zoo(model, batch=config.batch, dims=config.dims)
    else:
        program = load(Path(model), name=Path(model).name, batch=config.batch, dims=config.dims)
        sha256 = _sha256(Path(model))
    _tell(on_progress, "load", 1.0)
    return program, sha256


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def simulate_program(
    program: Program,
    config: RunConfig,
    *,
    sha256: str | None = None,
    origins: Mapping[str, str] | None = None,
    on_progress: Progress | None = None,
) -> Report:
    """As ``simulate``, for a program that is already open."""
    began = time.process_time()
    graph = trace(program, config, lambda fraction: _tell(on_progress, "trace", fraction))
    _tell(on_progress, "parallelise", 0.0)
    parallel = data_parallel(graph, config)
    ipu = parallel.system.ipu
    options = Options(config.available_memory_proportion, config.partials == "fp16")
    assignment = assign(graph, ipu, options, lambda fraction: _tell(on_progress, "plan", fraction))
    _tell(on_progress, "schedule", 0.0)
    line = timeline(graph, assignment, parallel, ipu)
    _tell(on_progress, "allocate", 0.0)
    memory = memory_map(graph, assignment, ipu)
    over = overflow(memory, graph, config, ipu)
    _tell(on_progress, "report", 0.0)
    report = build(
        Parts(
            program.name, program.parameters, sha256, program.notes, config, graph, parallel, ipu, assignment, line,
            memory, over, origins_of(config, origins),
        )
    )  # fmt: skip
    report["simulation"] = {"cpu_seconds": time.process_time() - began, "peak_bytes": _peak_bytes()}
    _tell(on_progress, "report", 1.0)
    return report


def _tell(on_progress: Progress | None, phase: str, fraction: float) -> None:
    if on_progress is not None:
        on_progress(phase, fraction)


def _peak_bytes() -> int:
    """Peak resident memory of this process. getrusage alone would also count whoever started it."""
    with contextlib.suppress(OSError, StopIteration, ValueError), open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
