"""Reads the data files that lie beside the code: YAML, by the parser in C where there is one. It checks nothing."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import yaml

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_data(package: str, name: str) -> Any:
    """The parsed content of the file ``name`` of ``package``."""
    text = files(package).joinpath(name).read_text("utf-8")
    return yaml.load(text, Loader=LOADER)  # noqa: S506 - a safe loader either way
