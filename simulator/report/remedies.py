"""What would make a model fit: settings to change, ranked by an estimate from the fullest tile. It simulates nothing.

An estimate ranks; ``trying`` says what a remedy really saves and costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from simulator.config import RunConfig
from simulator.memory.lifetimes import ALWAYS_LIVE
from simulator.parallel.stages import forward_sources
from simulator.report.names import even_layers
from simulator.report.parts import Parts
from simulator.units import Bytes, worded_bytes

SHRINKING = 0.85  # of what passes through memory; the rest (gathered weights, padding) does not follow the batch
LEAST_SHARE = 0.02  # of a tile: less is not worth a remedy
MOST_CHECKPOINTS = 24
FEWEST_CHECKPOINTS = 4
# what stages share out, and how well; in training without recomputation as much again waits in the pipeline
DIVIDED = ("weights", "optimiser_state", "accumulators", "gradients")
DIVIDED_TOO = ("activations",)
DIVIDING = 0.8
PASSING = ("activations", "gradients", "temporaries", "stream_buffers", "stash")


@dataclass(frozen=True)
class Remedy:
    """Settings to change and what to say of it. ``saves``: bytes of the fullest tile, estimated.

    ``costs``: the share of throughput that it takes as a rule, to rank before anything is simulated; ``figures`` are
    numbers that translations of ``text`` need.
    """

    code: str
    text: str
    changes: dict[str, Any]
    saves: Bytes
    costs: float
    figures: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        return {"code": self.code, "text": self.text, "changes": self.changes, **self.figures}


@dataclass(frozen=True)
class _Tile:
    """The fullest tile of a run that does not fit."""

    parts: Parts
    held: dict[str, Bytes]
    over: Bytes

    @property
    def passing(self) -> Bytes:
        return sum(self.held[name] for name in PASSING)

    @property
    def lasting(self) -> Bytes:
        return sum(amount for name, amount in self.held.items() if name in ALWAYS_LIVE and name != "stash")


def remedies(parts: Parts) -> tuple[Remedy, ...]:
    """Those that may be enough first, cheapest of them first; at least one."""
    assert parts.overflow is not None
    if parts.overflow.region == "code":
        return (_simplify(),)
    tile = _fullest_tile(parts)
    least = LEAST_SHARE * parts.ipu.bytes_per_tile
    found = [remedy for make in MAKERS for remedy in make(tile) if remedy.saves >= least]
    found.sort(key=lambda r: (r.saves < tile.over, r.costs if r.saves >= tile.over else -r.saves, r.code))
    return tuple(found) or (smaller_model(parts),)


def _fullest_tile(parts: Parts) -> _Tile:
    memory = parts.fullest.memory
    held = {name: int(column[memory.worst_tile]) for name, column in memory.by_tile.items()}
    return _Tile(parts, held, 0 if parts.overflow is None else parts.overflow.over_by)


def _smaller_batch(tile: _Tile) -> Iterator[Remedy]:
    config = tile.parts.config
    room = tile.parts.ipu.bytes_per_tile - tile.lasting
    if config.batch > 1 and room > 0 and tile.passing > 0:
        batch = max(1, min(config.batch - 1, int(config.batch * SHRINKING * room / tile.passing)))
        less = 1 - batch / config.batch
        estimate = Remedy("memory.smaller_batch", "", {}, int(tile.passing * SHRINKING * less), 0.3 * less, {})
        yield with_batch(estimate, config, batch)


def with_batch(remedy: Remedy, config: RunConfig, batch: int) -> Remedy:
    """``remedy`` with another batch; where micro-batches are accumulated, the global batch stays near what it was."""
    changes: dict[str, Any] = {**remedy.changes, "batch": batch}
    text = f"Lower the batch from {config.batch} to {batch}: activations shrink with it."
    if config.accumulation > 1:
        changes["accumulation"] = max(1, round(config.accumulation * config.batch / batch))
        text = f"Lower the batch from {config.batch} to {batch} and accumulate {changes['accumulation']} of them."
    return replace(remedy, text=text, changes=changes, figures={"batch": batch})


def _recompute(tile: _Tile) -> Iterator[Remedy]:
    config = tile.parts.config
    if not config.training or config.recompute != "none":
        return
    waiting = tile.held["activations"] + tile.held["stash"]
    if tile.parts.parallel.stages > 1:
        text = "Recompute activations in each stage: only what enters a stage is kept for the backward pass."
        yield Remedy("memory.recompute", text, {"recompute": "stages"}, waiting * 2 // 3, 0.25, {})
    names = _checkpoints(tile.parts)
    if names:
        text = f"Recompute activations between {len(names)} checkpoints ({names[0]} to {names[-1]})."
        changes = {"recompute": "checkpoints", "checkpoints": names}
        yield Remedy("memory.checkpoints", text, changes, waiting // 2, 0.22, {"checkpoints": len(names)})


def _checkpoints(parts: Parts) -> list[str]:
    """Layers that cut the model into a few even pieces."""
    sources = dict.fromkeys(source for each in parts.classes for source in forward_sources(each.graph))
    return even_layers(list(sources), FEWEST_CHECKPOINTS, MOST_CHECKPOINTS)


def _interleaved(tile: _Tile) -> Iterator[Remedy]:
    config = tile.parts.config
    if config.training and tile.parts.parallel.stages > 1 and config.schedule == "grouped":
        text = "Use the interleaved schedule: about half as many micro-batches wait for their backward pass."
        yield Remedy("memory.interleaved", text, {"schedule": "interleaved"}, tile.held["stash"] * 2 // 5, 0.1, {})


def _proportion(tile: _Tile) -> Iterator[Remedy]:
    share = tile.parts.config.available_memory_proportion
    if share > 0.1 and not tile.parts.config.stage_proportions:
        less = round(share / 2, 3)
        text = f"Lower the available memory proportion to {less}: matrix products work in more, smaller steps."
        changes = {"available_memory_proportion": less}
        yield Remedy("memory.proportion", text, changes, tile.held["temporaries"] // 2, 0.05, dict(changes))


def _half(tile: _Tile) -> Iterator[Remedy]:
    config = tile.parts.config
    if config.precision == "fp32":
        data = sum(tile.held[name] for name in (*PASSING, "weights"))
        text = "Use precision fp16: weights and activations take half the bytes."
        yield Remedy("memory.half", text, {"precision": "fp16"}, data * 2 // 5, 0.0, {})
    elif config.partials == "fp32":
        text = "Accumulate in fp16 partials: partial sums take half the bytes, at some loss of accuracy."
        yield Remedy("memory.half_partials", text, {"partials": "fp16"}, tile.held["temporaries"] // 4, 0.0, {})


def _state(tile: _Tile) -> Iterator[Remedy]:
    config, parallel, state = tile.parts.config, tile.parts.parallel, tile.held["optimiser_state"]
    if not config.training or not state:
        return
    if parallel.replicas > 1 and not config.shard_optimiser:
        text = f"Shard the optimiser's state over {parallel.replicas} replicas: each keeps its share only."
        saves = state - state // parallel.replicas
        yield Remedy("memory.shard", text, {"shard_optimiser": True}, saves, 0.03, {"replicas": parallel.replicas})
    if config.offload == "none" and parallel.system.streaming_bytes:
        text = "Keep the optimiser's state in streaming memory: it crosses to the IPU for each update."
        yield Remedy("memory.offload", text, {"offload": "optimiser"}, state, 0.1, {})
    if config.state_precision == "fp32" and config.precision == "fp16":
        text = "Keep the optimiser's state in fp16: it takes half the bytes, at some loss of accuracy."
        yield Remedy("memory.half_state", text, {"state_precision": "fp16"}, state // 2, 0.01, {})
    text = "Use sgd: it keeps no state beside the weights."
    yield Remedy("memory.optimiser", text, {"optimiser": "sgd"}, state, 0.02, {})


def _more_stages(tile: _Tile) -> Iterator[Remedy]:
    parts, config = tile.parts, tile.parts.config
    times, replicas = _times(tile), parts.parallel.replicas
    if times < 2 or replicas % times or config.stage_ipus or config.splits or config.tensor_parallel > 1:
        return
    stages = times * parts.parallel.stages
    changes: dict[str, Any] = {"stages": stages, "replicas": None, "stage_proportions": []}
    if config.training:
        changes["accumulation"] = max(times * config.accumulation, stages)
    text = (
        f"Divide the model over {stages} IPUs: each holds a part of it, and {replicas // times} replicas share a step."
    )
    shared = DIVIDED if config.training and config.recompute == "none" else DIVIDED + DIVIDED_TOO
    saves = int(sum(tile.held[name] for name in shared) * DIVIDING * (1 - 1 / times))
    yield Remedy("memory.stages", text, changes, saves, 0.2, {"stages": stages})


def _times(tile: _Tile) -> int:
    """By how much the stages should grow: a power of two that may be enough, and that the replicas leave room for."""
    wanted = (tile.parts.ipu.bytes_per_tile + tile.over) / tile.parts.ipu.bytes_per_tile
    times = 2
    while times < wanted and tile.parts.parallel.replicas % (2 * times) == 0:
        times *= 2
    return times


def _embedding(tile: _Tile) -> Iterator[Remedy]:
    config = tile.parts.config
    kinds = {row["source"]: row["bytes"] for row in tile.parts.overflow.tensors} if tile.parts.overflow else {}
    large = max((amount for source, amount in kinds.items() if "embed" in source.lower()), default=0)
    if config.embedding_steps == 1 and large:
        text = "Serialise the largest embedding into 4 steps: one part of its work is in memory at a time."
        yield Remedy("memory.embedding", text, {"embedding_steps": 4}, large * 3 // 4, 0.05, {"embedding_steps": 4})


MAKERS: tuple[Callable[[_Tile], Iterator[Remedy]], ...] = (
    _smaller_batch, _recompute, _interleaved, _proportion, _half, _state, _more_stages, _embedding,
)  # fmt: skip


def _simplify() -> Remedy:
    text = (
        "Code must lie in the first region of each tile. Use fewer different shapes of operators, or a smaller model."
    )
    return Remedy("memory.simplify", text, {}, 0, 0.0, {})


def smaller_model(parts: Parts) -> Remedy:
    """What is left to say when no setting helps."""
    tile = _fullest_tile(parts)
    text = (
        f"What stays in memory all the time takes {worded_bytes(tile.lasting)} of this tile's "
        f"{worded_bytes(parts.ipu.bytes_per_tile)}. Use a smaller model, or more IPUs for each replica."
    )
    return Remedy("memory.smaller_model", text, {}, 0, 0.0, {})
