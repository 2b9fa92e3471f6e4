"""Where each setting of a run comes from: given by somebody, published with a result, or assumed (a default)."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.config import RunConfig
from simulator.errors import SimulatorError

ORIGINS = ("given", "published", "assumed")


def origins_of(config: RunConfig, known: Mapping[str, str] | None) -> dict[str, str]:
    """One of ``ORIGINS`` for every setting; without ``known``, what differs from its default counts as given.

    Raises ``config.origins`` for a setting or an origin that does not exist.
    """
    values, defaults = config.to_dict(), RunConfig().to_dict()
    for name, origin in (known or {}).items():
        if name not in values or origin not in ORIGINS:
            text = f"'{name:.60}' cannot be '{origin:.60}'. Origins are {', '.join(ORIGINS)}, of settings."
            raise SimulatorError("config.origins", text, params={"field": name[:60], "legal": list(ORIGINS)})
    if known is None:
        return {name: "assumed" if value == defaults[name] else "given" for name, value in values.items()}
    return {name: known.get(name, "assumed") for name in values}
