"""From what a person sends to the complete settings of a run, by the simulator's own rules. It knows no slice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from portal.errors import PodiumError
from portal.jobs.references import ModelReference
from simulator import RunConfig, SimulatorError, slice_of


def complete(config: Mapping[str, Any], reference: ModelReference) -> dict[str, Any]:
    """All settings with defaults filled in. Raises `config.invalid` naming the field,
    `model.not_trainable` or `model.needs_dims`."""
    try:
        settled = _named(RunConfig.from_dict(config).to_dict())
    except SimulatorError as error:
        field = str(error.params.get("field", "system" if error.code.startswith("system.") else ""))
        name = f"config.{field}" if field and field != "config" else "config"
        raise PodiumError(
            error.code, error.message, status=422, params=error.params, fields={name: (error.code, error.message)}
        ) from error
    if settled["task"] == "train" and not reference.trainable:
        raise PodiumError(
            "model.not_trainable",
            "This model cannot be trained here: it has no trainable weights or an operator without a derivative. "
            "Run inference on it, or choose another model.",
            status=422,
            fields={"config.task": ("model.not_trainable", "This model can only be run for inference.")},
        )
    _refuse_open_sizes(settled["dims"], reference)
    return settled


def _refuse_open_sizes(dims: Mapping[str, int], reference: ModelReference) -> None:
    """What the inspection already knows is told before a job is made of it."""
    missing = [name for name in (reference.summary or {}).get("symbolic_dims", ()) if name not in dims]
    if missing:
        message = f"Give a size for {', '.join(missing)}: an IPU compiles for fixed shapes."
        raise PodiumError(
            "model.needs_dims",
            message,
            status=422,
            params={"dims": missing},
            fields={f"config.dims.{name}": ("model.needs_dims", message) for name in missing},
        )


def _named(settled: dict[str, Any]) -> dict[str, Any]:
    """`ipus:N` in the name of the smallest system with N IPUs; other names are looked up among the pods, later."""
    if not settled["system"].lower().startswith("ipus:"):
        return settled
    system, ipus = slice_of(settled["system"], settled["ipus"])
    return settled | {"system": system.id, "ipus": ipus}
