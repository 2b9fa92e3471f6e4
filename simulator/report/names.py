"""Names of nodes as paths: split at dots and slashes, so that layers can be told apart from the nodes in them."""

from __future__ import annotations

import re

_SEPARATOR = re.compile(r"[./]+")


def path_of(name: str) -> tuple[str, ...]:
    """``/layer3/attention.softmax`` -> ``("layer3", "attention", "softmax")``; a name without any stays whole."""
    return tuple(part for part in _SEPARATOR.split(name) if part) or (name,)
