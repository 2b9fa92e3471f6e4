"""Cycles of one phase of a sweep over a mesh, as Poplar's profile names them. A whole sweep is in ``metrics``."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from math import ceil

import numpy as np

from simulator.graph.graph import Kind
from simulator.machines.constants import Constants
from simulator.machines.ipu import Ipu
from simulator.planner.plan import Part
from simulator.planner.pricing import scales
from simulator.planner.stencil import Sweeps, face_cycles, plan_stencil, sweeps_of
from simulator.validation.cases import Case
from simulator.validation.refusals import NotModelled
from simulator.validation.runs import Runs

PHASE = re.compile(r"phase (\w+)/(\w+)")


def phase_of(words: str) -> str:
    """The phase that a row's words name ("step phase halo/pre"), or "" for a whole step."""
    found = PHASE.search(words)
    return "" if found is None else found.group(2)


def phase_cycles(phase: str, case: Case, runs: Runs, constants: Constants) -> float:
    """Cycles of ``phase`` in one sweep. Raises NotModelled for a phase or a kernel that has none."""
    if phase not in PHASES:
        raise NotModelled(f"'{phase}' is no phase of a sweep that is told apart")
    _, laid = runs.laid(case.model, case.config)
    graph = laid.planned[0].part.graph
    swept = np.flatnonzero(graph.ops.kind == Kind.STENCIL).tolist()
    if not swept:
        raise NotModelled(f"{case.model} has no sweeps")
    itemsize = np.dtype(graph.tensors.dtype[graph.ops.inputs[swept[0]][0]]).itemsize
    sweeps = sweeps_of(graph.ops.attributes[swept[0]], itemsize)
    cycles, part = PHASES[phase](replace(sweeps, steps=1), laid.ipu)
    return float(ceil(cycles * scales(constants)[part]))


def _step(name: str, sweeps: Sweeps, ipu: Ipu) -> tuple[int, Part]:
    """Compute of a superstep; 0 where a sweep needs no such step."""
    found = [step for step in plan_stencil(sweeps, ipu).supersteps if step.name == name]
    return (found[0].compute, found[0].part) if found else (0, Part.COPY)


def _inside(sweeps: Sweeps, ipu: Ipu) -> tuple[int, Part]:
    """The halo within an IPU, from its part of the mesh alone."""
    return max(step.exchange for step in plan_stencil(replace(sweeps, pieces=1), ipu).supersteps), Part.EXCHANGE


def _between(sweeps: Sweeps, ipu: Ipu) -> tuple[int, Part]:
    return face_cycles(sweeps, ipu), Part.EXCHANGE


PHASES: dict[str, Callable[[Sweeps, Ipu], tuple[int, Part]]] = {
    "compute": lambda sweeps, ipu: _step("sweep", sweeps, ipu),
    "pre": lambda sweeps, ipu: _step("gather faces", sweeps, ipu),
    "post": lambda sweeps, ipu: _step("spread faces", sweeps, ipu),
    "exchange": _inside,
    "globExchange": _between,
}
