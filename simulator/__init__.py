"""The facade of the simulator: everything else is private to it.

Importing this package imports neither JAX nor ONNX: each name is fetched from its module when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simulator.config import RunConfig
from simulator.errors import SimulatorError

if TYPE_CHECKING:
    from simulator.inspection import Inspection, inspect
    from simulator.machines.catalogue import slice_of, system, systems
    from simulator.numerics.checkpoint import Checkpoints
    from simulator.pipeline import simulate
    from simulator.release import ENGINE_RELEASE, engine_fingerprint
    from simulator.running import RunResult, run
    from simulator.search.plan import plan
    from simulator.whatif.session import Session
    from simulator.zoo.catalogue import ZOO
    from simulator.zoo.opening import build_zoo

_HOMES = {
    "Inspection": "simulator.inspection",
    "inspect": "simulator.inspection",
    "slice_of": "simulator.machines.catalogue",
    "system": "simulator.machines.catalogue",
    "systems": "simulator.machines.catalogue",
    "simulate": "simulator.pipeline",
    "Session": "simulator.whatif.session",
    "ENGINE_RELEASE": "simulator.release",
    "engine_fingerprint": "simulator.release",
    "RunResult": "simulator.running",
    "run": "simulator.running",
    "plan": "simulator.search.plan",
    "Checkpoints": "simulator.numerics.checkpoint",
    "ZOO": "simulator.zoo.catalogue",
    "build_zoo": "simulator.zoo.opening",
}

__all__ = [
    "ENGINE_RELEASE",
    "ZOO",
    "Checkpoints",
    "Inspection",
    "RunConfig",
    "RunResult",
    "Session",
    "SimulatorError",
    "build_zoo",
    "engine_fingerprint",
    "inspect",
    "plan",
    "run",
    "simulate",
    "slice_of",
    "system",
    "systems",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simulator' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
