"""A model's name or path to a Program. The only place that knows both the zoo and the file formats."""

from __future__ import annotations

import hashlib
from pathlib import Path

from simulator.config import RunConfig
from simulator.frontends.limits import DEFAULT_LIMITS, Limits
from simulator.frontends.onnx import importer
from simulator.program import Program
from simulator.zoo.catalogue import build_zoo, is_zoo


def load(model: str | Path, config: RunConfig, *, limits: Limits = DEFAULT_LIMITS) -> Program:
    """The Program of ``zoo:<name>`` or of a file, bound to the batch and dims of ``config``. Raises SimulatorError."""
    name = str(model)
    if isinstance(model, str) and is_zoo(model):
        return importer.load(build_zoo(model), name=name, batch=config.batch, dims=config.dims, limits=limits)
    path = Path(model)
    return importer.load(path, name=path.name, batch=config.batch, dims=config.dims, limits=limits)


def sha256_of(model: str | Path) -> str:
    """SHA-256 of the model's bytes, in hexadecimal."""
    if isinstance(model, str) and is_zoo(model):
        return hashlib.sha256(build_zoo(model)).hexdigest()
    with Path(model).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
