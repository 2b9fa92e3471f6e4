"""The list of built-in models and their options. It imports ONNX only when a model is built, and makes no Program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from simulator.errors import SimulatorError

if TYPE_CHECKING:
    from simulator.zoo.network import Network

PREFIX = "zoo:"
OPEN = frozenset({"batch"})  # dimensions that every model leaves open
TABLE = Path(__file__).with_name("models.yaml")


@dataclass(frozen=True)
class ZooRun:
    """How the model is run by its source: settings of RunConfig, the model's own options among ``dims``."""

    config: dict[str, Any]
    source: str


@dataclass(frozen=True)
class ZooModel:
    """``parameters`` counts weights with the usual options, running statistics included. ``options`` are names and
    usual values of what ``dims`` may change (0: left to the model); ``remarks`` are notes of a report (code, message).
    ``unpublished``: what no source tells of the model that it stands for; "" where its shape is known.
    """

    id: str
    name: str
    description: str
    parameters: int
    source: str
    trainable: bool
    options: Mapping[str, int]
    run: ZooRun
    builder: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[tuple[str, str], ...] = ()
    unpublished: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
            "options": dict(self.options),
            "run": {"config": dict(self.run.config), "source": self.run.source},
            "source": self.source,
            "trainable": self.trainable,
        }


def _model(name: str, row: Mapping[str, Any]) -> ZooModel:
    run = row["run"]
    return ZooModel(
        id=PREFIX + name,
        name=row["name"],
        description=row["description"],
        parameters=row["parameters"],
        source=row["source"],
        trainable=row.get("trainable", True),
        options=row.get("options", {}),
        run=ZooRun({key: value for key, value in run.items() if key != "source"}, run["source"]),
        builder=row["builder"],
        preset=row.get("preset", {}),
        remarks=tuple(("zoo.remark", text) for text in row.get("remarks", ())),
        unpublished=row.get("unpublished", ""),
    )


def _read() -> tuple[ZooModel, ...]:
    with TABLE.open(encoding="utf-8") as file:
        rows = yaml.load(file, Loader=yaml.CSafeLoader)
    return tuple(_model(name, row) for name, row in rows.items())


ZOO: tuple[ZooModel, ...] = _read()


def is_zoo(model: str) -> bool:
    return model.startswith(PREFIX)


def find(name: str) -> ZooModel:
    """The model called ``name``, with "zoo:" or without. Raises ``model.unknown_zoo``."""
    key = name if is_zoo(name) else PREFIX + name
    for model in ZOO:
        if model.id == key:
            return model
    close = get_close_matches(key, [model.id for model in ZOO], 4, 0.5)
    near = f" Did you mean {' or '.join(close)}?" if close else ""
    raise SimulatorError(
        "model.unknown_zoo",
        f"There is no built-in model '{name[:100]}'.{near} './podium models' lists all {len(ZOO)}.",
        params={"name": name[:100], "close": close},
    )


def chosen(model: ZooModel, dims: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """``dims`` as (all options of the model, sizes of its open dimensions). Raises ``config.invalid``."""
    for name in dims:
        if name not in model.options and name not in OPEN:
            legal = ", ".join([*sorted(OPEN), *model.options])
            raise SimulatorError(
                "config.invalid",
                f"{model.id} has no dimension or option '{name[:100]}'. It has {legal}.",
                params={"field": "dims", "legal": legal},
            )
    options = {name: dims.get(name, usual) for name, usual in model.options.items()}
    return options, {name: size for name, size in dims.items() if name in OPEN}


def build(model: ZooModel, options: Mapping[str, int]) -> Network:
    """The model's graph, its weights as rules. Raises ``config.invalid`` for options that do not go together."""
    module, _, function = model.builder.partition(".")
    made: Network = getattr(import_module(f"simulator.zoo.{module}"), function)(**model.preset, **options)
    return made


def refused(option: str, legal: str) -> SimulatorError:
    """The refusal of an option that a builder cannot use."""
    return SimulatorError(
        "config.invalid", f"Option '{option}' of this model must be {legal}.", params={"field": "dims", "legal": legal}
    )
