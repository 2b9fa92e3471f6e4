"""What a jailed child can be asked to do: inspect, estimate, run, or only say how well it is confined.

Only the simulator's facade is called. `warm` loads trusted code before rights are dropped.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import simulator
from simulator import RunConfig
from workers.jail.child import Conversation


def warm(verb: str) -> None:
    """Import what the verb will use."""
    if verb == "probe":
        return
    for name in simulator.__all__:
        getattr(simulator, name)
    for module in pkgutil.walk_packages(simulator.__path__, "simulator."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def probe(conversation: Conversation) -> dict[str, Any]:
    """Nothing but the engine's release: what the worker asks at its start to learn the isolation level."""
    return {"engine_release": simulator.ENGINE_RELEASE, "engine_fingerprint": simulator.engine_fingerprint()}


def inspect(conversation: Conversation, *, model: str, name: str) -> dict[str, Any]:
    """The inspection of an uploaded file, as JSON."""
    return simulator.inspect(model, name=name).to_dict()


def estimate(conversation: Conversation, *, model: str, config: dict[str, Any]) -> dict[str, Any]:
    """The report of one simulation, without executing numbers."""
    return simulator.simulate(model, RunConfig.from_dict(config))


def run(
    conversation: Conversation, *, model: str, config: dict[str, Any], resume: str | None, checkpoint_every: float
) -> dict[str, Any]:
    """Simulate and execute; artefacts are left in the scratch folder, which is the current one."""
    here = Path(".")
    checkpoints = simulator.Checkpoints(here, checkpoint_every, None if resume is None else Path(resume))
    result = simulator.run(
        model,
        RunConfig.from_dict(config),
        on_event=conversation.emit,
        should_stop=conversation.should_stop,
        checkpoints=checkpoints,
    )
    result.save(here)
    return result.to_dict()
