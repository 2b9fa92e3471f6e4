"""Reads a file of settings, YAML or JSON, and names the line of what is wrong. It validates names, not values."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from simulator.errors import SimulatorError
from simulator.textfiles import Unreadable, read_text

MOST_BYTES = 1_000_000


class Loader(yaml.SafeLoader):
    """Plain values only; ``2e9`` is a number, as in YAML 1.2 and on the command line."""


Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+[eE][-+]?[0-9]+$"), list("-+0123456789")
)


@dataclass(frozen=True)
class SettingsFile:
    """``values`` by name, and the line (from 1) on which each begins."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]


def read_settings(path: Path, legal: Collection[str] | None) -> SettingsFile:
    """The settings of ``path``. Raises ``config.file`` with the line; a name outside ``legal`` is one of its faults."""
    text = _text(path)
    found = _of_json(path, text) if path.suffix.lower() == ".json" else _of_yaml(path, text)
    for name in found.values:
        if legal is not None and name not in legal:
            near = get_close_matches(name, legal, 1)
            advice = f"Did you mean '{near[0]}'?" if near else f"Use one of {', '.join(legal)}."
            raise _fault(path, found.lines[name], f"'{name:.60}' is not a setting. {advice}", field=name[:60])
    return found


def _text(path: Path) -> str:
    try:
        return read_text(path, MOST_BYTES)
    except Unreadable as why:
        raise _fault(path, None, f"it {why}") from None


def _of_json(path: Path, text: str) -> SettingsFile:
    lines: dict[str, int] = {}

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise _fault(path, _line_of(text, twice), f"'{twice:.60}' is there twice")
        return dict(pairs)

    try:
        values = json.loads(text, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise _fault(path, error.lineno, f"it is not JSON ({error.msg})") from None
    except (RecursionError, ValueError):
        raise _fault(path, None, "it is not JSON that can be read") from None
    if not isinstance(values, dict):
        raise _fault(path, 1, "it must be an object of settings")
    for name in values:
        lines[name] = _line_of(text, name)
    return SettingsFile(values, lines)


def _line_of(text: str, name: str) -> int:
    return text[: max(0, text.find(json.dumps(name)))].count("\n") + 1


def _of_yaml(path: Path, text: str) -> SettingsFile:
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise _fault(path, None, "it uses an alias (*name); write the value out")
        root = yaml.compose(text, Loader=Loader)
        if root is None:
            return SettingsFile({}, {})
        if not isinstance(root, yaml.MappingNode):
            raise _fault(path, root.start_mark.line + 1, "it must be a list of NAME: VALUE lines")
        lines = _lines(path, root)
        return SettingsFile(Loader(text).get_single_data(), lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _fault(path, None if mark is None else mark.line + 1, f"it is not YAML ({error.problem})") from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise _fault(path, None, "it is not YAML that can be read") from None


def _lines(path: Path, root: yaml.MappingNode) -> dict[str, int]:
    lines: dict[str, int] = {}
    for key, _ in root.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
            raise _fault(path, line, "a name must be a plain word")
        if key.value in lines:
            raise _fault(path, line, f"'{key.value:.60}' is there twice")
        lines[key.value] = line
    return lines


def _fault(path: Path, line: int | None, why: str, **params: Any) -> SimulatorError:
    where = f"{path.name}, line {line}" if line is not None else path.name
    end = "" if why.endswith((".", "?")) else "."
    return SimulatorError(
        "config.file", f"The file of settings {where}: {why}{end}", params={"file": path.name, "line": line, **params}
    )
