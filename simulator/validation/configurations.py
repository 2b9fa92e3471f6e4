"""Reads files of published run configurations, in their own layouts or in ours. Matching a row is in ``matching``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from simulator.config import RunConfig
from simulator.datafiles import LOADER
from simulator.errors import SimulatorError
from simulator.textfiles import Unreadable, read_text
from simulator.validation.layouts import cnns, others, transformers
from simulator.validation.layouts.entry import Configuration
from simulator.validation.places import Place

OURS = ("configurations.yaml", "more_configurations.yaml")
LARGEST_FILE_BYTES = 16 * 2**20
TUPLES = ("splits", "stage_ipus", "stage_proportions", "checkpoints")


def read_configurations(path: Path | None = None) -> list[Configuration]:
    """Every configuration of ``path``, then ours that are not in it. Raises ``validation.file``."""
    given = [] if path is None else _given(path)
    names = {each.name for each in given}
    return given + [each for name in OURS for each in _own(name) if each.name not in names]


def _own(name: str) -> list[Configuration]:
    return parse_configurations(files(__package__).joinpath(name).read_text("utf-8"), name)


def _given(path: Path) -> list[Configuration]:
    try:
        return parse_configurations(read_text(path, LARGEST_FILE_BYTES), str(path))
    except Unreadable as why:
        raise _bad(str(path), str(why)) from None


def parse_configurations(text: str, name: str) -> list[Configuration]:
    """As ``read_configurations``. An entry in a layout nobody knows is left out; a broken one is an error."""
    found: list[Configuration] = []
    for key, entry in _entries(text, name).items():
        if isinstance(entry, Mapping):
            try:
                found += _parse(str(key), entry)
            except KeyError as error:
                raise _bad(name, f"has an entry '{key!s:.60}' without '{error.args[0]}'") from None
            except (TypeError, ValueError, AttributeError, IndexError):
                why = f"has an entry '{key!s:.60}' with a value of another kind than its layout has"
                raise _bad(name, why) from None
    return found


def _entries(text: str, name: str) -> dict[Any, Any]:
    try:
        parsed = yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader either way
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f" (line {mark.line + 1}: {error.problem})"
        raise _bad(name, f"is not YAML{where}") from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise _bad(name, "is not YAML that can be read") from None
    if not isinstance(parsed, dict):
        raise _bad(name, "is not a mapping from names to configurations")
    return parsed


def _parse(name: str, entry: Mapping[str, Any]) -> list[Configuration]:
    """Which layout it is shows in its keys."""
    if "settings" in entry:
        return [_ours(name, entry)]
    if "popart_dtype" in entry:
        return [transformers.popart_bert(name, entry)]
    if "ipu_config" in entry:
        return [transformers.tensorflow_bert(name, entry)]
    if "grad_acc_factor" in entry:
        return [transformers.paddle_bert(name, entry)]
    if "vocab_size" in entry and "layers_per_ipu" in entry:
        return [transformers.pytorch_bert(name, entry)]
    if "byteio" in entry:
        return [transformers.vit(name, entry)]
    if "max_len" in entry:
        return [transformers.gpt2(name, entry)]
    if "model_size" in entry:
        return [cnns.tensorflow(name, entry)]
    if "norm_type" in entry:
        return [cnns.pytorch(name, entry)]
    return _others(name, entry)


def _others(name: str, entry: Mapping[str, Any]) -> list[Configuration]:
    if "micro_batch_derived" in entry:
        return [others.rnnt(name, entry)]
    if any(key.startswith("pod") for key in entry):
        return others.conformers(name, entry)
    if "combined_batch" in entry:
        return [others.schnet(name, entry)]
    if "n_nodes_per_pack" in entry:
        return [others.gps(name, entry)]
    if "compiler_options" in entry:
        return others.card_inference(name, entry)
    return []


def _ours(name: str, entry: Mapping[str, Any]) -> Configuration:
    known = {f.name for f in fields(Configuration)} - {"name"}
    values = {key: value for key, value in entry.items() if key in known}
    values.setdefault("source", "")
    lacking = next((key for key in ("model", "task", "framework") if not isinstance(values.get(key), str)), None)
    if lacking is not None:
        raise KeyError(lacking)
    values["assumed"] = tuple(values.get("assumed", ()))
    settings = dict(values.pop("settings"))
    return Configuration(name=name, settings={k: _tuple(k, v) for k, v in settings.items()}, **values)


def _tuple(name: str, value: Any) -> Any:
    return tuple(value) if name in TUPLES else value


def to_yaml(configurations: list[Configuration]) -> str:
    """Our layout, which ``parse_configurations`` reads back."""
    plain = {}
    for each in configurations:
        entry = {key: value for key, value in asdict(each).items() if value not in ("", {}, ()) and key != "name"}
        entry["assumed"] = list(each.assumed)
        entry["settings"] = {k: list(v) if isinstance(v, tuple) else v for k, v in each.settings.items()}
        plain[each.name] = entry
    return yaml.safe_dump(plain, sort_keys=False, width=130, default_flow_style=None)


def run_of(configuration: Configuration) -> tuple[str, RunConfig]:
    """The zoo model and the settings of one published run, on the smallest system that holds it."""
    ipus = 1 << (configuration.ipus - 1).bit_length()
    system = Place(configuration.chip or "GC200", ipus, ipus, chip_assumed=not configuration.chip).system
    config = RunConfig(
        task=configuration.task, system=system, ipus=ipus, dims=configuration.dims,
        framework=configuration.framework, **configuration.settings,
    )  # fmt: skip
    return "zoo:" + configuration.model, config


def _bad(name: str, why: str) -> SimulatorError:
    return SimulatorError(
        "validation.file",
        f"The file '{name[:200]}' {why}. Give YAML with one published run configuration an entry.",
        params={"file": name[:200]},
    )
