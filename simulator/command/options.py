"""Options of a command line, one for each setting that changes a report, and the RunConfig they make.

A setting given as an option wins over the same setting of ``--config FILE``. It runs nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

from simulator.command.published import published
from simulator.command.settings_file import read_settings
from simulator.config import CHOICES, RunConfig
from simulator.errors import SimulatorError
from simulator.zoo.catalogue import ZOO

DEFAULTS = RunConfig()
# these decide the numbers of a run, not its time or memory
OF_NUMBERS = frozenset({"steps", "learning_rate", "momentum", "seed", "dataset"})
PUBLISHED = " *"
AS_PUBLISHED = (
    "In brackets: what is not given. With *, of a built-in model: as in its published run, which 'models NAME' shows "
    "and every report names."
)
METAVARS = {"int": "N", "float": "NUMBER", "str": "NAME", "tuple": "A,B,..."}
HELP = {
    "task": "a step of training, or forwards only",
    "optimiser": "that updates the weights",
    "schedule": "of micro-batches through pipeline stages",
    "system": "pod4, pod16, pod64 ... (an unknown name lists them all), or ipus:N",
    "ipus": "IPUs of the slice, a power of two (all of the system)",
    "batch": "micro-batch of one replica",
    "precision": "of weights and activations",
    "partials": "in which matrix products accumulate",
    "available_memory_proportion": "most of a tile's memory that a matrix product may use while it runs",
    "replicas": "copies of the model that share a step (all that the slice holds)",
    "accumulation": "micro-batches whose gradients are added up before an update",
    "stages": "pipeline stages of a replica",
    "splits": "nodes, or prefixes of nodes, that begin each stage after the first: A,B",
    "stage_ipus": "the IPU of each stage: 0,1,2,0",
    "stage_proportions": "available memory proportion of each stage: 0.3,0.6",
    "recompute": "what the backward pass computes anew instead of keeping",
    "checkpoints": "nodes, or prefixes of nodes, whose outputs are kept all the same: A,B",
    "tensor_parallel": "IPUs that share the matrix products of one stage",
    "shard_optimiser": "each replica keeps and updates its share of the optimiser's state only",
    "offload": "what lives in streaming memory",
    "state_precision": "of the optimiser's state",
    "embedding_steps": "serial steps of the largest embedding",
    "loss_scale": "of fp16 gradients; 0 is automatic",
    "device_iterations": "steps that one call of the host starts",
    "prefetch_depth": "batches that the host sends ahead",
    "queue_depth": "batches in flight of an inference service (from the framework)",
    "framework": "whose mechanisms are simulated",
    "sdk": "version of the SDK, such as 2.5",
    "sequences_in_pack": "mean number of sequences packed into one",
    "host_input": "inputs as the model declares them, as bytes, or made on the device",
    "hosts": "host servers (as the system has)",
    "loader_workers": "processes of a host that decode pictures (inputs come prepared)",
    "samples": "samples of an epoch, for the time of a whole run",
    "epochs": "epochs of a run",
    "evaluation_samples": "samples of one evaluation",
    "evaluations": "evaluations in a run",
}


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command line as every other refusal is said."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        text = f"{message[:1].upper()}{message[1:]}. See {self.prog} --help."
        raise SimulatorError("command.invalid", text, params={"command": self.prog})


@dataclass(frozen=True)
class Settings:
    """A RunConfig and the names of those of its fields that somebody gave, or that a published run decided."""

    config: RunConfig
    given: frozenset[str]
    published: frozenset[str] = frozenset()

    @property
    def origins(self) -> dict[str, str]:
        """``given`` and ``published``; everything else is left to the simulation to name."""
        return {**dict.fromkeys(sorted(self.published), "published"), **dict.fromkeys(sorted(self.given), "given")}

    @property
    def notes(self) -> list[dict[str, str]]:
        """What a report must say of settings that were given and that no simulation of time and memory reads."""
        names = ", ".join(sorted(self.given & OF_NUMBERS))
        said = f"Given, but without effect here: {names} (of the numbers of a run, not of its time or memory)."
        return [{"code": "config.of_numbers", "message": said}] if names else []


def add_settings(parser: argparse.ArgumentParser, *, as_published: bool = True) -> None:
    """Add ``--config``, ``--dim``, ``--machine`` and one option for each other setting of a report.

    ``as_published`` as of ``settings_of``, for the command's help.
    """
    group = parser.add_argument_group("settings", AS_PUBLISHED if as_published else "In brackets: what is not given.")
    group.add_argument("--config", type=Path, metavar="FILE", help="YAML or JSON of settings, and the model if wanted")
    group.add_argument("--dim", action="append", default=[], metavar="NAME=N", help="size of a symbolic dimension")
    group.add_argument(
        "--machine", action="append", default=[], metavar="NAME=VALUE",
        help="another value of a machine's constant, or a YAML file of them: a variant of the hardware",
    )  # fmt: skip
    for setting in fields(RunConfig):
        if setting.name not in OF_NUMBERS | {"dims", "machine"}:
            _add_option(group, setting.name, str(setting.type), PUBLISHED if as_published else "")


def _add_option(group: Any, name: str, kind: str, mark: str) -> None:
    default, flag = getattr(DEFAULTS, name), "--" + name.replace("_", "-")
    if not any(name in entry.run.config for entry in ZOO):
        mark = ""
    if kind == "bool":
        group.add_argument(flag, action=argparse.BooleanOptionalAction, dest=name, help=HELP[name] + mark)
        return
    words = [HELP.get(name, ""), mark.strip() if default in (None, (), "") else f"({default}{mark})"]
    metavar = "|".join(CHOICES[name]) if name in CHOICES else METAVARS[kind.split("[")[0].split(" ")[0]]
    group.add_argument(flag, dest=name, metavar=metavar, help=" ".join(filter(None, words)) or None)


def settings_of(options: argparse.Namespace, *, as_published: bool = False, task: str | None = None) -> Settings:
    """Validated settings: the defaults, then ``--config``, then the options. Raises ``config.invalid``.

    ``as_published``: what nobody gave of a built-in model is as in its published run; else only its kernels are run
    once and not trained. ``task``: what the command is about, unless somebody gives another.
    """
    found = dict(read_settings(options.config, _legal()).values) if options.config else {}
    if options.config and "model" in found:
        options.model = options.model or found["model"]
        del found["model"]
    for setting in fields(RunConfig):
        text = getattr(options, setting.name, None) if setting.name not in ("dims", "machine") else None
        if text is not None:
            found[setting.name] = text if isinstance(text, bool) else _read(setting.name, str(setting.type), text)
    _merge(found, "dims", dict(_dim(text) for text in options.dim))
    _merge(found, "machine", {name: value for text in options.machine for name, value in _machine(text).items()})
    model = getattr(options, "model", None)
    if not as_published:
        return Settings(RunConfig.from_dict({**_of_kernel(model), **found}), frozenset(found))
    usual = {} if task is None or "task" in found else {"task": task}
    more = published(model, {**found, **usual})
    whole = {**more, **usual, **found}
    _merge(whole, "dims", {**more.get("dims", {}), **(found.get("dims") or {})})
    return Settings(RunConfig.from_dict(whole), frozenset(found), frozenset(more) - frozenset(found))


def _of_kernel(model: Any) -> dict[str, Any]:
    """What a built-in kernel is run with unless somebody says otherwise: it has nothing to train and no batch."""
    kernel = next((entry for entry in ZOO if entry.id == model and not entry.trainable), None)
    return {name: kernel.run.config[name] for name in ("task", "batch")} if kernel else {}


def model_of(options: argparse.Namespace) -> str:
    """The model that the command line or its file names. Raises ``command.invalid`` when neither does."""
    if not options.model or not isinstance(options.model, str):
        text = "Name a model: an .onnx file, zoo:NAME such as zoo:mnist, or 'model' in the file of settings."
        raise SimulatorError("command.invalid", text, params={"field": "model"})
    return options.model


def one_setting(text: str) -> tuple[str, Any]:
    """``batch=32`` as a setting and its value; ``dims.NAME=N`` and ``machine.NAME=VALUE`` reach inside."""
    name, separator, value = text.partition("=")
    outer, _, inner = name.partition(".")
    outer = outer.replace("-", "_")
    kinds = {setting.name: str(setting.type) for setting in fields(RunConfig)}
    if not separator or outer not in kinds or bool(inner) != (outer in ("dims", "machine")):
        legal = f"NAME=VALUE, such as batch=32 or machine.chip.clock=1.5e9; names are {', '.join(kinds)}"
        raise SimulatorError("config.invalid", f"'{text:.60}' changes nothing. Use {legal}.", params={"legal": legal})
    if outer == "dims":
        return outer, dict([_dim(f"{inner}={value}")])
    return outer, {inner: _number(inner, value)} if inner else _read(outer, kinds[outer], value)


def _legal() -> tuple[str, ...]:
    return ("model", *(setting.name for setting in fields(RunConfig)))


def _merge(found: dict[str, Any], name: str, more: Mapping[str, Any]) -> None:
    if more:
        held = found.get(name)
        found[name] = {**(held if isinstance(held, dict) else {}), **more}


def _read(name: str, kind: str, text: str) -> Any:
    """The value that ``text`` spells for a setting of type ``kind``; RunConfig judges its range."""
    if kind.startswith("tuple"):
        each: dict[str, Callable[[str], Any]] = {"tuple[int, ...]": int, "tuple[float, ...]": float}
        return tuple(_convert(name, each.get(kind, str), part.strip()) for part in text.split(",") if part.strip())
    if kind == "bool":
        if text.lower() not in ("true", "false", "yes", "no"):
            raise _misspelt(name, text, "true or false")
        return text.lower() in ("true", "yes")
    if text.lower() == "none" and kind.endswith("| None"):
        return None
    return _convert(name, {"int": int, "float": float}.get(kind.split(" ")[0], str), text)


def _convert(name: str, kind: Callable[[str], Any], text: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise _misspelt(name, text, "a whole number" if kind is int else "a number") from None


def _misspelt(name: str, text: str, legal: str) -> SimulatorError:
    message = f"Setting '{name}' cannot be '{text:.60}'. Use {legal}."
    return SimulatorError("config.invalid", message, params={"field": name, "legal": legal})


def _dim(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal() or len(size) > 18:
        message = f"--dim takes NAME=N, such as sequence=128, not '{text:.60}'."
        raise SimulatorError("config.invalid", message, params={"field": "dims", "legal": "NAME=N"})
    return name, int(size)


def _machine(text: str) -> dict[str, Any]:
    name, separator, value = text.partition("=")
    if separator:
        return {name: _number(name, value)}
    return dict(read_settings(Path(text), None).values)


def _number(name: str, text: str) -> float:
    number: float = _convert(f"machine.{name}"[:100], float, text)
    return number
