"""Names of nodes as paths: split at dots and slashes, so that layers can be told apart from the nodes in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SEPARATOR = re.compile(r"[./]+")


def path_of(name: str) -> tuple[str, ...]:
    """``/layer3/attention.softmax`` -> ``("layer3", "attention", "softmax")``; a name without any stays whole."""
    return tuple(part for part in _SEPARATOR.split(name) if part) or (name,)


def prefix_of(name: str, depth: int) -> str:
    """The first ``depth`` parts of a name as it is written, with the separator after them if more follow."""
    found = list(_SEPARATOR.finditer(name, 1))
    return name[: found[depth - 1].end()] if len(found) >= depth else name


def even_layers(sources: Sequence[str], fewest: int, most: int) -> list[str]:
    """Prefixes of layers (or nodes, where names have no parts) that cut a model into ``fewest`` to ``most`` pieces.

    ``sources`` are its nodes in order. Empty where it has fewer.
    """
    for depth in (1, 2, 3):
        names = list(dict.fromkeys(prefix_of(source, depth) for source in sources))
        if len(names) >= fewest:
            return names[:: -(-len(names) // most)]
    return []
