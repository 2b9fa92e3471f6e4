"""The verb with which a worker learns, at its start, how well its children are confined. It reads nothing hostile."""

from __future__ import annotations

from typing import Any

import simulator
from workers.jail.child import Conversation


def warm() -> None:
    """Nothing to load: it must be quick."""


def probe(conversation: Conversation) -> dict[str, Any]:
    """The engine that children run."""
    return {"engine_release": simulator.ENGINE_RELEASE}
