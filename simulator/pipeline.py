"""The whole simulation on one screen: load, trace, parallelise, plan, schedule, allocate, report."""

from __future__ import annotations

import contextlib
import hashlib
import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from simulator.collecting import uncollected
from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.frontends.onnx.importer import load
from simulator.graph.graph import Graph
from simulator.graph.trace import trace
from simulator.laying import Laid, lay
from simulator.machines.constants import Constants, constants
from simulator.memory.fit import overflow
from simulator.memory.of_ipu import Mapped, memory_of
from simulator.memory.tilemap import memory_map
from simulator.program import Program
from simulator.report.build import Report, build
from simulator.report.gpu import beside_gpu
from simulator.report.origins import origins_of
from simulator.report.parts import IpuClass, Parts
from simulator.report.rerun import Rerun
from simulator.report.trying import Again
from simulator.scaling import scaling
from simulator.schedule.step import Schedule, timeline
from simulator.schedule.timeline import Timeline
from simulator.zoo.catalogue import is_zoo
from simulator.zoo.opening import open_zoo

Progress = Callable[[str, float], None]


@uncollected()
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
    return simulate_program(program, config, model=model, sha256=sha256, origins=origins, on_progress=on_progress)


def open_model(model: str | Path, config: RunConfig, *, on_progress: Progress | None = None) -> tuple[Program, str]:
    """The Program of a path or "zoo:name", and the SHA-256 of its bytes (of a zoo model: graph and weight rules)."""
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


@uncollected()
def simulate_program(
    program: Program,
    config: RunConfig,
    *,
    model: str | Path | None = None,
    sha256: str | None = None,
    origins: Mapping[str, str] | None = None,
    on_progress: Progress | None = None,
) -> Report:
    """As ``simulate``, for a program that is already open.

    Without ``model``, where it came from, remedies of what does not fit are not tried with another batch.
    """
    began = time.process_time()
    graph = graph_of(program, config, on_progress)
    _tell(on_progress, "parallelise", 0.0)
    laid = lay(graph, config, lambda fraction: _tell(on_progress, "plan", fraction))
    parts = parts_of(program, laid, config, sha256=sha256, origins=origins, on_progress=on_progress)
    _tell(on_progress, "report", 0.0)
    report = reported(parts, laid, began, _rerun(program, laid, graph, config, model))
    _tell(on_progress, "report", 1.0)
    return report


def _rerun(program: Program, laid: Laid, graph: Graph, config: RunConfig, model: str | Path | None) -> Rerun:
    def traced(changed: RunConfig) -> Graph:
        if model is None and changed.batch != config.batch:
            raise SimulatorError("model.closed", "Another batch needs the model's file.", owner="platform")
        return graph_of(program if model is None else open_model(model, changed)[0], changed)

    def finish(other: Graph, changed: RunConfig, plans_stay: bool) -> Parts:
        found = laid.moved(changed) if plans_stay else None
        return parts_of(program, found or lay(other, changed), changed)

    return Rerun(graph, config, laid.staging.splits, traced, finish)


def reported(parts: Parts, laid: Laid, began: float, again: Again) -> Report:
    """The report of ``parts``, with the processor time since ``began`` and the memory that this process took."""
    report = build(parts, again)
    report["scaling"] = scaling(laid, parts.config, parts.constants)
    report["comparator"] = beside_gpu(parts, laid.graph)
    report["simulation"] = {"cpu_seconds": time.process_time() - began, "peak_bytes": _peak_bytes()}
    return report


def graph_of(program: Program, config: RunConfig, on_progress: Progress | None = None) -> Graph:
    """One micro-batch of ``program`` as a graph, whatever runs it."""
    return trace(program, config, lambda fraction: _tell(on_progress, "trace", fraction))


def parts_of(
    program: Program,
    laid: Laid,
    config: RunConfig,
    *,
    sha256: str | None = None,
    origins: Mapping[str, str] | None = None,
    priced: Constants | None = None,
    mapped: Mapped = memory_map,
    on_progress: Progress | None = None,
) -> Parts:
    """Time and memory of plans, under the constants of ``config`` or those given as ``priced``.

    ``mapped`` may remember memory maps between calls; it is asked as ``memory_map`` is.
    """
    _tell(on_progress, "schedule", 0.0)
    used = constants(config.machine, sdk=config.sdk) if priced is None else priced
    found = laid.priced(used)
    _tell(on_progress, "allocate", 0.0)
    return Parts(
        name=program.name,
        parameters=program.parameters,
        sha256=sha256,
        notes=program.notes,
        config=config,
        parallel=laid.parallel,
        ipu=laid.ipu,
        classes=tuple(_class(laid, place, found, config, used, mapped) for place in range(len(laid.planned))),
        schedule=found,
        whole=laid.graph,
        staging=laid.staging,
        origins=origins_of(config, origins),
        constants=used,
    )


def _class(laid: Laid, place: int, found: Schedule, config: RunConfig, used: Constants, mapped: Mapped) -> IpuClass:
    part, assignment = laid.planned[place].part, laid.planned[place].assignment
    memory = memory_of(part, assignment, laid.parallel, config, laid.ipu, mapped)
    over = overflow(memory, part.graph, laid.ipu)

    def timed() -> Timeline:
        return timeline(laid.planned, found, place, laid.ipu, used)

    return IpuClass(part.ipu, part.stages, part.graph, part.stage_of, assignment, timed, memory, over)


def _tell(on_progress: Progress | None, phase: str, fraction: float) -> None:
    if on_progress is not None:
        on_progress(phase, fraction)


def _peak_bytes() -> int:
    """Peak resident memory of this process. getrusage alone would also count whoever started it."""
    with contextlib.suppress(OSError, StopIteration, ValueError), open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
