"""What a user may set for one run, validated. It knows no model and no machine: their names are resolved later."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from simulator.errors import SimulatorError

CHOICES: dict[str, tuple[str, ...]] = {
    "task": ("train", "infer"),
    "optimiser": ("sgd", "momentum", "adam", "adamw", "lamb"),
    "precision": ("fp16", "fp32", "fp8"),
    "partials": ("fp16", "fp32"),
    "dataset": ("digits", "synthetic"),
    "schedule": ("grouped", "interleaved", "sequential"),
    "recompute": ("none", "stages", "checkpoints"),
    "offload": ("none", "optimiser"),
    "state_precision": ("fp32", "fp16", "mixed"),
    "framework": ("podium", "popart", "tensorflow", "pytorch", "paddle", "poprt", "poplar"),
    "host_input": ("model", "bytes", "device"),
}
# (least, most) inclusive
INTEGER_RANGES: dict[str, tuple[int, int]] = {
    "batch": (1, 65_536),
    "steps": (1, 1_000_000),
    "seed": (0, 2**31 - 1),
    "ipus": (1, 65_536),
    "replicas": (1, 65_536),
    "accumulation": (1, 1_000_000),
    "stages": (1, 256),
    "tensor_parallel": (1, 64),
    "embedding_steps": (1, 1024),
    "device_iterations": (1, 1_000_000),
    "prefetch_depth": (0, 64),
    "queue_depth": (1, 1024),
    "hosts": (1, 4096),
    "loader_workers": (1, 4096),
    "samples": (1, 10**12),
    "evaluation_samples": (1, 10**12),
    "evaluations": (0, 1_000_000),
}
# settings that may be left to the simulator by None
LEFT_OPEN = frozenset({"ipus", "replicas", "queue_depth", "hosts", "loader_workers", "samples", "evaluation_samples"})
FLOAT_RANGES: dict[str, tuple[float, float]] = {
    "learning_rate": (0.0, 1000.0),
    "momentum": (0.0, 1.0),
    "available_memory_proportion": (0.01, 1.0),
    "loss_scale": (0.0, 2.0**24),
    "sdk": (1.0, 4.0),
    "sequences_in_pack": (1.0, 1000.0),
    "epochs": (0.001, 1e6),
}
MOST_DIMS = 256
MOST_NAMES = 1024
MOST_OVERRIDES = 64
LARGEST_DIM = 2**31 - 1


@dataclass(frozen=True)
class RunConfig:
    """Settings of one run. ``batch`` is the micro-batch of one replica; ``ipus`` None means all of the system.

    A replica is ``stages`` pipeline stages, each on ``tensor_parallel`` IPUs. ``splits`` names, for every stage after
    the first, the node or the prefix of nodes ("layer7.") that begins it; empty: stages are balanced by time.
    ``stage_ipus`` gives the IPU of each stage (forward and backward of one stage share it); empty: one IPU a stage.
    ``recompute`` "stages" keeps only what enters a stage; "checkpoints" also keeps the outputs of the nodes or
    prefixes in ``checkpoints``. ``stage_proportions`` overrides ``available_memory_proportion`` for each stage.
    ``state_precision`` "mixed" keeps the first moment in fp16 and the second in fp32.
    ``shard_optimiser`` is replicated tensor sharding; ``embedding_steps`` serialises the largest embedding.
    ``host_input``: inputs as the model declares them, as bytes that the device casts, or made on the device.
    ``loader_workers`` are processes of a host that decode pictures; None: inputs come prepared.
    ``samples`` are those of an epoch, of which a run has ``epochs`` and ``evaluations`` over ``evaluation_samples``.
    ``machine`` overrides constants of the machine by name ("chip.clock", "links.ipu_link"): a variant of the hardware.
    """

    task: str = "train"
    batch: int = 16
    steps: int = 100
    optimiser: str = "sgd"
    learning_rate: float = 0.01
    momentum: float = 0.9
    precision: str = "fp32"
    partials: str = "fp32"
    seed: int = 0
    dataset: str = "synthetic"
    dims: dict[str, int] = field(default_factory=dict)
    available_memory_proportion: float = 0.6
    system: str = "pod4"
    ipus: int | None = None
    replicas: int | None = None
    accumulation: int = 1
    stages: int = 1
    splits: tuple[str, ...] = ()
    stage_ipus: tuple[int, ...] = ()
    stage_proportions: tuple[float, ...] = ()
    schedule: str = "grouped"
    recompute: str = "none"
    checkpoints: tuple[str, ...] = ()
    tensor_parallel: int = 1
    shard_optimiser: bool = False
    offload: str = "none"
    state_precision: str = "fp32"
    embedding_steps: int = 1
    loss_scale: float = 0.0
    device_iterations: int = 1
    prefetch_depth: int = 1
    queue_depth: int | None = None
    framework: str = "podium"
    sdk: float = 3.3
    sequences_in_pack: float = 1.0
    host_input: str = "model"
    hosts: int | None = None
    loader_workers: int | None = None
    samples: int | None = None
    epochs: float = 1.0
    evaluation_samples: int | None = None
    evaluations: int = 1
    machine: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            _choice(name, getattr(self, name), allowed)
        for name, (least, most) in INTEGER_RANGES.items():
            if not (name in LEFT_OPEN and getattr(self, name) is None):
                _integer(name, getattr(self, name), least, most)
        for name, (low, high) in FLOAT_RANGES.items():
            _number(name, getattr(self, name), low, high)
        if not isinstance(self.system, str) or not self.system:
            raise _invalid("system", self.system, "the name of a system, such as pod4")
        _dims(self.dims)
        for name in ("splits", "checkpoints"):
            _names(self, name)
        _stage_numbers(self, "stage_ipus", 0, 65_535, whole=True)
        _stage_numbers(self, "stage_proportions", *FLOAT_RANGES["available_memory_proportion"], whole=False)
        if not isinstance(self.shard_optimiser, bool):
            raise _invalid("shard_optimiser", self.shard_optimiser, "true or false")
        if self.splits and self.stages not in (1, len(self.splits) + 1):
            raise _invalid("stages", self.stages, f"{len(self.splits) + 1}, one more than there are splits")
        if self.stage_ipus and len(self.stage_ipus) != self.pipeline_stages:
            raise _invalid("stage_ipus", list(self.stage_ipus), f"one IPU for each of {self.pipeline_stages} stages")
        if self.stage_proportions and len(self.stage_proportions) != self.pipeline_stages:
            legal = f"one proportion for each of {self.pipeline_stages} stages"
            raise _invalid("stage_proportions", list(self.stage_proportions), legal)
        _overrides(self.machine)
        if self.precision == "fp8" and self.task == "train":
            raise _invalid("precision", self.precision, "fp16 or fp32: 8-bit floats are for inference")

    @property
    def pipeline_stages(self) -> int:
        """Stages of the pipeline, whether counted or named by ``splits``."""
        return max(self.stages, len(self.splits) + 1)

    @property
    def training(self) -> bool:
        return self.task == "train"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunConfig:
        """Build from plain JSON. Raises ``config.invalid`` naming the field and what is legal."""
        if not isinstance(values, Mapping):
            raise _invalid("config", values, "an object of settings")
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise _invalid(str(name)[:100], None, "one of the settings: " + ", ".join(known), unknown=True)
        return cls(**dict(values))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-able settings; ``from_dict`` reads them back."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}


def _invalid(name: str, value: object, legal: object, *, unknown: bool = False) -> SimulatorError:
    said = "is not a setting" if unknown else f"cannot be {value!r:.100}"
    return SimulatorError(
        "config.invalid", f"Setting '{name}' {said}. Use {legal}.", params={"field": name, "legal": str(legal)}
    )


def _choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise _invalid(name, value, "one of " + ", ".join(allowed))


def _integer(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _invalid(name, value, f"a whole number from {least} to {most}")


def _number(name: str, value: object, least: float, most: float) -> None:
    legal = f"a number from {least:g} to {most:g}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _invalid(name, value, legal)
    if not math.isfinite(value) or not least <= value <= most:
        raise _invalid(name, value, legal)


def _dims(dims: object) -> None:
    legal = f"up to {MOST_DIMS} names, each with a whole number from 1 to {LARGEST_DIM}"
    if not isinstance(dims, dict) or len(dims) > MOST_DIMS:
        raise _invalid("dims", dims, legal)
    for name, size in dims.items():
        if not isinstance(name, str) or isinstance(size, bool) or not isinstance(size, int):
            raise _invalid("dims", {name: size}, legal)
        if not 1 <= size <= LARGEST_DIM:
            raise _invalid("dims", {name: size}, legal)


def _names(config: RunConfig, field_name: str) -> None:
    """Lists of JSON become tuples, so that a config can be a key."""
    value = getattr(config, field_name)
    legal = f"a list of up to {MOST_NAMES} names of nodes"
    if not isinstance(value, list | tuple) or len(value) > MOST_NAMES:
        raise _invalid(field_name, value, legal)
    if not all(isinstance(name, str) and name for name in value):
        raise _invalid(field_name, value, legal)
    object.__setattr__(config, field_name, tuple(value))


def _stage_numbers(config: RunConfig, field_name: str, low: float, high: float, *, whole: bool) -> None:
    value = getattr(config, field_name)
    if not isinstance(value, list | tuple) or len(value) > INTEGER_RANGES["stages"][1]:
        raise _invalid(field_name, value, "a list with one number a stage")
    for number in value:
        if whole:
            _integer(field_name, number, int(low), int(high))
        else:
            _number(field_name, number, low, high)
    object.__setattr__(config, field_name, tuple(value))


def _overrides(machine: object) -> None:
    legal = f"up to {MOST_OVERRIDES} names of constants, each with a number above 0"
    if not isinstance(machine, dict) or len(machine) > MOST_OVERRIDES:
        raise _invalid("machine", machine, legal)
    for name, value in machine.items():
        if not isinstance(name, str) or isinstance(value, bool) or not isinstance(value, int | float):
            raise _invalid("machine", {name: value}, legal)
        if not math.isfinite(value) or value <= 0:
            raise _invalid("machine", {name: value}, legal)
