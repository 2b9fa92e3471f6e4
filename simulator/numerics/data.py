"""What a run is fed with: batches by number, the same for the same seed. Shapes come from the Program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np

from simulator.errors import SimulatorError
from simulator.learning.step import FLOATS
from simulator.program import Array, Objective, Program, TensorSpec

POOL_BYTES = 64 << 20  # of synthetic samples kept, over which training goes again and again
POOL_SAMPLES = 512
INTEGERS_BELOW = 8  # of synthetic integer inputs: small enough for any table or vocabulary

Inputs = dict[str, Array]
Labels = Array | tuple[Array, ...]  # one array for each part of an objective


@dataclass(frozen=True)
class Batch:
    """Inputs by name and labels (None in inference; several where an objective has several parts), each with the
    leading dimension of one replica's batch."""

    inputs: Inputs
    labels: Labels | None


class Source(Protocol):
    """An endless, repeatable stream: batch ``index`` is always the same."""

    def batch(self, index: int) -> Batch:
        """Batch number ``index``, counted over all replicas."""


def stream(seed: int, *path: int) -> np.random.Generator:
    """Chance of its own for each use of a seed."""
    return np.random.default_rng([seed, *path])


class Shuffled:
    """Samples in memory, read epoch after epoch, each in a seeded order; a batch may straddle two epochs."""

    def __init__(self, inputs: Inputs, labels: Labels, *, batch: int, seed: int) -> None:
        self._inputs = inputs
        self._labels = labels
        self._batch = batch
        self._samples = samples = len(labels[0] if isinstance(labels, tuple) else labels)
        self._order = lru_cache(maxsize=2)(lambda epoch: stream(seed, 1, epoch).permutation(samples))

    def batch(self, index: int) -> Batch:
        rows = self._rows(index * self._batch)
        labels = self._labels
        chosen = tuple(each[rows] for each in labels) if isinstance(labels, tuple) else labels[rows]
        return Batch({name: values[rows] for name, values in self._inputs.items()}, chosen)

    def _rows(self, first: int) -> Array:
        """Sample numbers of one batch, whose first sample is the ``first`` that is read at all."""
        parts: list[Array] = []
        missing = self._batch
        while missing:
            epoch, offset = divmod(first, self._samples)
            parts.append(self._order(epoch)[offset : offset + missing])
            first += len(parts[-1])
            missing -= len(parts[-1])
        return np.concatenate(parts)


class Noise:
    """Synthetic inputs without labels, a new draw for each batch: for inference."""

    def __init__(self, program: Program, seed: int) -> None:
        self._specs = program.inputs
        self._seed = seed

    def batch(self, index: int) -> Batch:
        return Batch({s.name: draw(s, stream(self._seed, 2, index, i)) for i, s in enumerate(self._specs)}, None)


class FixedNoise:
    """One synthetic batch drawn again for each number, with labels: for models whose samples cannot be told apart."""

    def __init__(self, program: Program, objective: Objective, seed: int) -> None:
        self._noise = Noise(program, seed)
        self._objective = objective
        self._seed = seed

    def batch(self, index: int) -> Batch:
        which = index % 4
        chance = stream(self._seed, 3, which)
        return Batch(self._noise.batch(which).inputs, draw_labels(self._objective, chance))


def draw(spec: TensorSpec, chance: np.random.Generator, leading: int | None = None) -> Array:
    """Standard normal floats, small whole numbers, or coin flips; ``leading`` replaces the first dimension."""
    shape = spec.shape if leading is None else (leading, *spec.shape[1:])
    if spec.dtype in FLOATS:
        return chance.standard_normal(shape, np.float32).astype(spec.dtype)
    if spec.dtype == "bool":
        return chance.integers(0, 2, shape).astype(np.bool_)
    return chance.integers(0, INTEGERS_BELOW, shape).astype(spec.dtype)


def draw_labels(objective: Objective, chance: np.random.Generator, samples: int | None = None) -> Labels:
    """Class numbers, or normal targets, for each part of the objective; ``samples`` replaces the first dimension."""
    found = tuple(_labels_of(part, samples, chance) for part in objective.parts)
    return found if len(found) > 1 else found[0]


def _labels_of(part: Objective, samples: int | None, chance: np.random.Generator) -> Array:
    shape = part.shape if samples is None else (samples, *part.shape[1:])
    if part.kind == "cross_entropy":
        return chance.integers(0, part.classes, shape[:-1]).astype(np.int32)
    if part.kind == "ctc":
        return chance.integers(1, part.classes, (shape[0], part.tokens)).astype(np.int32)
    return chance.standard_normal(shape, np.float32)


def synthetic(program: Program, objective: Objective, seed: int) -> Source:
    """A fixed pool of random samples with random labels, so that there is something to learn by heart."""
    batch = program.batch
    if any(not s.shape or s.shape[0] != batch for s in program.inputs) or objective.shape[0] != batch:
        return FixedNoise(program, objective, seed)
    sample = sum(np.prod(s.shape[1:], dtype=np.int64) * np.dtype(s.dtype).itemsize for s in program.inputs)
    samples = int(max(batch, min(POOL_SAMPLES, POOL_BYTES // max(1, sample))))
    inputs = {s.name: draw(s, stream(seed, 4, i), samples) for i, s in enumerate(program.inputs)}
    labels = draw_labels(objective, stream(seed, 5), samples)
    return Shuffled(inputs, labels, batch=batch, seed=seed)


def training_source(program: Program, objective: Objective, dataset: str, seed: int) -> Source:
    """The source that a configuration names. Raises ``dataset.mismatch`` when the model cannot take it."""
    if dataset == "digits":
        from simulator.numerics.digits import digits

        return digits(program, objective, seed)
    return synthetic(program, objective, seed)


def inference_source(program: Program, dataset: str, seed: int) -> Source:
    """As ``training_source``, for a model that is only asked."""
    if dataset == "digits":
        from simulator.numerics.digits import digits

        return digits(program, None, seed)
    return Noise(program, seed)


def mismatch(message: str) -> SimulatorError:
    return SimulatorError("dataset.mismatch", message, params={"field": "dataset"})
