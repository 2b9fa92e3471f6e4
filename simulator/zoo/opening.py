"""A built-in model as a Program with abstract weights, or as the bytes of an ONNX file. It simulates nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace

import numpy as np

from simulator.errors import SimulatorError
from simulator.frontends.limits import DEFAULT_LIMITS
from simulator.frontends.onnx.dims import port_of
from simulator.frontends.onnx.importer import Checked, bind_program
from simulator.frontends.onnx.opsets import opsets_of
from simulator.program import Objective, Program
from simulator.zoo.catalogue import ZooModel, build, chosen, find
from simulator.zoo.network import Network

LARGEST_FILE = 200_000_000  # bytes of weights that are made into one file in memory


def open_zoo(name: str, *, batch: int, dims: Mapping[str, int]) -> tuple[Program, str]:
    """The Program of "zoo:name" for ``batch`` samples, and a SHA-256 of its graph and the rules of its weights.

    ``dims`` are the model's options and its open dimensions. Raises ``model.unknown_zoo``, ``config.invalid``.
    """
    found = find(name)
    options, rest = chosen(found, dims)
    return program_of(build(found, options), found, batch=batch, dims=rest)


def program_of(network: Network, found: ZooModel, *, batch: int, dims: Mapping[str, int]) -> tuple[Program, str]:
    """As ``open_zoo``, for a network already built; ``dims`` are sizes of its open dimensions."""
    model = network.model(values=False)
    limits = DEFAULT_LIMITS
    checked = Checked(
        model,
        opsets_of(model),
        [port_of(value, limits) for value in model.graph.input],
        [port_of(value, limits) for value in model.graph.output],
    )
    program = bind_program(checked, name=found.id, batch=batch, dims=dims, limits=limits, declared=True)
    rules = json.dumps({key: asdict(weight) for key, weight in network.weights.items()}, sort_keys=True)
    digest = hashlib.sha256(model.SerializeToString(deterministic=True) + rules.encode()).hexdigest()
    return _drawn_late(program, network, found), digest


def _drawn_late(program: Program, network: Network, found: ZooModel) -> Program:
    """The program with weights drawn from their rules, and the objective that the model is trained with."""
    held = tuple(program.weights)

    def load_weights() -> dict[str, np.ndarray]:
        return {name: network.values(name) for name in held}

    shapes = {spec.name: spec.shape for spec in program.outputs}
    parts = [Objective(e.kind, e.output, shapes[e.output], e.share, e.tokens) for e in network.losses]
    objective = replace(parts[0], others=tuple(parts[1:])) if parts else None
    specs = {
        name: replace(spec, trainable=spec.trainable and network.trains(name)) for name, spec in program.weights.items()
    }
    notes = (*program.notes, *found.remarks)
    return replace(program, weights=specs, loader=load_weights, objective=objective, notes=notes)


def build_zoo(name: str) -> bytes:
    """ONNX bytes of a built-in model with its usual options, always the same.

    Raises ``model.unknown_zoo``, and ``model.too_large`` for weights that do not belong into one file in memory.
    """
    found = find(name)
    network = build(found, dict(found.options))
    size = 4 * network.parameters
    if size > LARGEST_FILE:
        raise SimulatorError(
            "model.too_large",
            f"{found.id} would be a file of {size} bytes; files of built-in models are made up to {LARGEST_FILE}. "
            f"Simulate or run it by its name, {found.id}: its weights are then drawn only when they are needed.",
            params={"model": found.id, "bytes": size, "limit": LARGEST_FILE},
        )
    return bytes(network.model(values=True).SerializeToString(deterministic=True))
