"""A training run: exact data parallelism over the replicas, many replicas at a time on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from simulator.config import RunConfig
from simulator.errors import SimulatorError
from simulator.learning import step
from simulator.numerics.checkpoint import Checkpoints, Saved, Writer, read
from simulator.numerics.data import Labels, Source, training_source
from simulator.numerics.placing import placed, placed_weights
from simulator.numerics.scaling import LossScale
from simulator.program import Array, Program

SCALE = ("loss_scale", "", "")  # its place among what a checkpoint holds
SAMPLES_AT_ONCE = 256  # of all replicas computed together, to bound memory

Tree = dict[str, Any]


@dataclass
class Trained:
    """``losses`` are (step from 1, mean loss over the global batch); ``skipped`` counts steps that overflowed fp16."""

    weights: dict[str, Array]
    losses: list[tuple[int, float]] = field(default_factory=list)
    skipped: int = 0
    stopped: bool = False


def train(
    program: Program,
    config: RunConfig,
    *,
    replicas: int = 1,
    source: Source | None = None,
    on_step: Callable[[int, float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    checkpoints: Checkpoints | None = None,
    on_checkpoint: Callable[[int, str], None] | None = None,
) -> Trained:
    """Train for ``config.steps`` steps. Raises ``model.not_trainable`` or ``dataset.mismatch``.

    A run that goes on from a checkpoint ends with the same bits as one that was never interrupted.
    """
    objective = step.objective_of(program)
    source = source or training_source(program, objective, config.dataset, config.seed)
    trainer = _Trainer(program, config, replicas)
    result = Trained({})
    first = 1
    if checkpoints is not None and checkpoints.resume is not None:
        saved = read(checkpoints.resume)
        trainer.restore(saved)
        result.losses, result.skipped, first = saved.losses, saved.skipped, saved.step + 1
    writer = Writer(checkpoints) if checkpoints is not None else None

    def keep(number: int) -> None:
        if writer is not None and on_checkpoint is not None:
            path = writer.write(Saved(number, result.losses, result.skipped, trainer.state()))
            on_checkpoint(number, path.name)

    for number in range(first, config.steps + 1):
        if should_stop is not None and should_stop():
            result.stopped = True
            keep(number - 1)
            break
        loss, finite = trainer.step(number, source)
        result.losses.append((number, loss))
        result.skipped += 0 if finite else 1
        if on_step is not None:
            on_step(number, loss)
        if writer is not None and writer.due() and number < config.steps:
            keep(number)
    result.weights = {n: np.asarray(w) for n, w in {**trainer.kept, **trainer.trained}.items()}
    return result


class _Trainer:
    """Weights and optimiser state between steps."""

    def __init__(self, program: Program, config: RunConfig, replicas: int) -> None:
        weights = placed_weights(program, config.precision)
        self.trained: Tree = {n: w for n, w in weights.items() if program.weights[n].trainable}
        self.kept: Tree = {n: w for n, w in weights.items() if n not in self.trained}
        self._state: Tree = step.initial_state(self.trained, config)
        self._precision = config.precision
        self._scale = LossScale.of(config)
        self._replicas = replicas
        self._together = max(1, min(replicas, SAMPLES_AT_ONCE // max(1, program.batch)))
        self._key = jax.random.key(config.seed)
        # rounding draws for every weight: this generator compiles in a fraction of the default's time
        self._rounding = jax.random.key(config.seed, impl="unsafe_rbg")
        self._sums = jax.jit(_summed(program, config))
        self._update = jax.jit(_updated(config, replicas), donate_argnums=(0, 1, 2))

    def state(self) -> dict[tuple[str, str, str], Array]:
        """Everything that the next step depends on, by (group, name, slot)."""
        arrays = {("trained", name, ""): np.asarray(value) for name, value in self.trained.items()}
        arrays |= {("kept", name, ""): np.asarray(value) for name, value in self.kept.items()}
        slots = {(name, slot): value for name, held in self._state.items() for slot, value in held.items()}
        arrays |= {("state", name, slot): np.asarray(value) for (name, slot), value in slots.items()}
        return arrays | ({SCALE: self._scale.saved()} if self._scale.automatic else {})

    def restore(self, saved: Saved) -> None:
        """Go back to a saved state of the same model and settings. Raises ``checkpoint.mismatch``."""
        present = self.state()
        same = present.keys() == saved.arrays.keys() and all(
            present[key].shape == value.shape and present[key].dtype == value.dtype
            for key, value in saved.arrays.items()
        )
        if not same:
            raise SimulatorError(
                "checkpoint.mismatch", "The checkpoint is of another model or of other settings.", owner="platform"
            )
        for (group, name, slot), value in saved.arrays.items():
            placed_value = jnp.asarray(value)
            if (group, name, slot) == SCALE:
                self._scale.restore(value)
            elif group == "state":
                self._state[name][slot] = placed_value
            else:
                (self.trained if group == "trained" else self.kept)[name] = placed_value

    def step(self, number: int, source: Source) -> tuple[float, bool]:
        """Loss over the global batch, and whether all gradients were finite."""
        key, scale = jax.random.fold_in(self._key, number), np.float32(self._scale.value)
        total: Any = None
        for first in range(0, self._replicas, self._together):
            chosen = range(first, min(first + self._together, self._replicas))
            inputs, labels = self._feed(source, (number - 1) * self._replicas, chosen)
            sums = self._sums(self.trained, self.kept, inputs, labels, jax.random.fold_in(key, first), scale)
            total = sums if total is None else jax.tree.map(jnp.add, total, sums)
        self.trained, self.kept, self._state, loss, finite = self._update(
            self.trained, self.kept, self._state, total, np.float32(number),
            jax.random.fold_in(self._rounding, number), scale,
        )  # fmt: skip
        self._scale.tell(bool(finite))
        return float(loss), bool(finite)

    def _feed(self, source: Source, offset: int, chosen: range) -> tuple[Tree, Labels]:
        """Inputs and labels of the chosen replicas, with the replicas in front."""
        batches = [source.batch(offset + replica) for replica in chosen]
        inputs = [placed(b.inputs, self._precision) for b in batches]
        labels = [_placed_labels(b.labels, self._precision) for b in batches if b.labels is not None]
        stacked: Labels = jax.tree.map(lambda *each: np.stack(each), *labels)
        return {name: np.stack([i[name] for i in inputs]) for name in inputs[0]}, stacked


def _placed_labels(labels: Labels, precision: str) -> Labels:
    if isinstance(labels, tuple):
        return tuple(placed({"": each}, precision)[""] for each in labels)
    return placed({"": labels}, precision)[""]


def _summed(program: Program, config: RunConfig) -> Callable[..., Any]:
    """Sums over replicas of (loss, scaled gradients, updates), in float32: one backward pass for all of them."""
    loss_of = step.losses(program, config, on_host=True)

    def total(trained: Tree, kept: Tree, inputs: Tree, labels: Any, key: Any, scale: Any) -> Any:
        keys = jax.random.split(key, jax.tree.leaves(labels)[0].shape[0])
        each = jax.vmap(loss_of, in_axes=(None, None, 0, 0, 0, None))(trained, kept, inputs, labels, keys, scale)
        scaled, (loss, updates) = jax.tree.map(lambda v: jnp.sum(v.astype(jnp.float32), 0), each)
        return scaled, (loss, updates)

    slopes_of = jax.value_and_grad(total, has_aux=True)

    def run(trained: Tree, kept: Tree, inputs: Tree, labels: Any, key: Any, scale: Any) -> Any:
        (_, (loss, updates)), slopes = slopes_of(trained, kept, inputs, labels, key, scale)
        return loss, jax.tree.map(lambda g: g.astype(jnp.float32), slopes), updates

    return run


def _updated(config: RunConfig, replicas: int) -> Callable[..., Any]:
    """Average the sums and update; in fp16 a step with a gradient that is not finite changes nothing."""
    update = step.update(config)

    def run(trained: Tree, kept: Tree, state: Tree, sums: Any, number: Any, key: Any, scale: Any) -> Any:
        loss, slopes, updates = jax.tree.map(lambda v: v / replicas, sums)
        finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(g)) for g in slopes.values()]))
        new, new_state = update(trained, state, slopes, number, key, scale)
        new_kept = {n: updates[n].astype(v.dtype) if n in updates else v for n, v in kept.items()}
        if config.precision == "fp16":
            chosen = jax.tree.map(
                lambda a, b: jnp.where(finite, a, b), (new, new_kept, new_state), (trained, kept, state)
            )
            new, new_kept, new_state = chosen
        return new, new_kept, new_state, loss, finite

    return run
