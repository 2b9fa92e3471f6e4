"""What a jailed child can be asked to do with a model: inspect, estimate, run.

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


def warm() -> None:
    """Import all that the verbs will use."""
    for name in simulator.__all__:
        getattr(simulator, name)
    for module in pkgutil.walk_packages(simulator.__path__, "simulator."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def inspect(conversation: Conversation, *, model: str, name: str) -> dict[str, Any]:
    """The inspection of an uploaded file, as JSON."""
    return simulator.inspect(model, name=name).to_dict()


def estimate(conversation: Conversation, *, model: str, config: dict[str, Any]) -> dict[str, Any]:
    """The report of one simulation, without executing numbers."""
    return simulator.simulate(model, RunConfig.from_dict(config))


def run(
    conversation: Conversation,
    *,
    model: str,
    config: dict[str, Any],
    checkpoint_every: float,
    resume: str | None = None,
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
