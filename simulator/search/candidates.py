"""Which configurations are legal on a slice: families of settings, each with a ladder of micro-batches.

What a setting costs is for ``estimate`` and the simulator; which are tried is for ``finder``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from simulator.config import INTEGER_RANGES, RunConfig
from simulator.search.outcome import Goal

LADDER = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512)
MOST_STAGES = 16
LARGEST_GLOBAL_BATCH = 2048


@dataclass(frozen=True)
class Request:
    """What is searched for. ``fixed`` names settings of ``base`` that stay as they are.

    ``global_batch`` None: any up to ``largest_global_batch`` (of training; inference has none).
    ``sizes`` are the slices that may be used; ``nodes`` is how many nodes a pipeline can be cut between, ``layers``
    those whose outputs recomputation may keep.
    """

    base: RunConfig
    goal: Goal = "fastest"
    fixed: frozenset[str] = frozenset()
    global_batch: int | None = None
    largest_global_batch: int = LARGEST_GLOBAL_BATCH
    sizes: tuple[int, ...] = (1,)
    nodes: int = 1
    layers: tuple[str, ...] = ()
    keeps_state: bool = False  # the optimiser has state beside the weights


@dataclass(frozen=True)
class Family:
    """Settings that decide where things lie; a micro-batch and an accumulation make a configuration of it.

    ``accumulates``: gradients of several micro-batches are added up, which takes accumulators. Within a family memory
    only grows with the micro-batch.
    """

    ipus: int
    stages: int
    recompute: str
    offload: str
    shard_optimiser: bool
    accumulates: bool

    def replicas(self, base: RunConfig) -> int:
        return self.ipus // (self.stages * base.tensor_parallel)

    def changes(self) -> dict[str, Any]:
        return {
            "ipus": self.ipus,
            "stages": self.stages,
            "recompute": self.recompute,
            "offload": self.offload,
            "shard_optimiser": self.shard_optimiser,
        }


def families(request: Request) -> Iterator[Family]:
    """Every legal family, large slices and plain ones first."""
    base = request.base
    for ipus in sorted(request.sizes, reverse=True):
        for stages in _stages(request, ipus):
            replicas = ipus // (stages * base.tensor_parallel)
            recompute = _options(request, "recompute", _recomputation(request, stages), base.training)
            offload = _options(request, "offload", ("none", "optimiser"), request.keeps_state)
            shard = _options(request, "shard_optimiser", (False, True), request.keeps_state and replicas > 1)
            accumulates = (False, True) if base.training and stages == 1 else (base.training,)
            for settings in product(recompute, offload, shard, accumulates):
                family = Family(ipus, stages, *settings)
                if ladder(request, family):
                    yield family


def ladder(request: Request, family: Family) -> tuple[tuple[int, int], ...]:
    """(micro-batch, accumulation) pairs of a family, small batches first.

    A pipeline needs at least as many micro-batches as stages. With a given global batch only its divisors are legal.
    """
    base, replicas = request.base, family.replicas(request.base)
    batches = (base.batch,) if "batch" in request.fixed else LADDER
    if not base.training:
        return tuple((batch, base.accumulation) for batch in batches)
    if request.global_batch is not None:
        each, rest = divmod(request.global_batch, replicas)
        pairs = [(b, each // b) for b in _divisors(0 if rest else each) if b in batches or batches is LADDER]
    elif "accumulation" in request.fixed:
        pairs = [(batch, base.accumulation) for batch in batches]
    else:
        most = request.largest_global_batch // replicas
        times = INTEGER_RANGES["accumulation"][1] if family.accumulates else 1
        pairs = [(batch, min(most // batch, times)) for batch in batches if batch <= most]
    if "accumulation" in request.fixed:
        pairs = [pair for pair in pairs if pair[1] == base.accumulation]
    legal = (pair for pair in pairs if pair[1] >= family.stages and (pair[1] > 1) == family.accumulates)
    return tuple(legal)


def configuration(request: Request, family: Family, batch: int, accumulation: int) -> RunConfig:
    """The settings of one candidate."""
    changes = family.changes()
    if family.recompute == "checkpoints" and "checkpoints" not in request.fixed:
        changes["checkpoints"] = request.layers
    return replace(request.base, batch=batch, accumulation=accumulation, replicas=None, **changes)


def _options(request: Request, name: str, options: tuple[Any, ...], possible: bool) -> tuple[Any, ...]:
    """The values that setting ``name`` may take."""
    if name in request.fixed or not possible:
        return (getattr(request.base, name),)
    return options


def _recomputation(request: Request, stages: int) -> tuple[str, ...]:
    """From what enters a stage, or from the outputs of its layers; a lone stage gains from the latter alone."""
    layers = ("checkpoints",) if request.layers or request.base.checkpoints else ()
    return ("none", *layers, "stages") if stages > 1 else ("none", *layers)


def _stages(request: Request, ipus: int) -> list[int]:
    base = request.base
    if base.splits or {"stages", "stage_ipus"} & request.fixed:
        counts = [base.pipeline_stages]
    else:
        counts = [2**power for power in range(MOST_STAGES.bit_length()) if 2**power <= min(MOST_STAGES, request.nodes)]
    return [count for count in counts if ipus % (count * base.tensor_parallel) == 0]


def _divisors(number: int) -> tuple[int, ...]:
    most = min(number, INTEGER_RANGES["batch"][1])
    return tuple(divisor for divisor in range(1, most + 1) if number % divisor == 0)


def smallest_global_batches(request: Request) -> tuple[int, ...]:
    """Global batches from the given one up that some replicas fill."""
    wanted = request.global_batch or 1
    base = request.base
    found = set()
    for ipus in request.sizes:
        for stages in _stages(request, ipus):
            each = ipus // (stages * base.tensor_parallel) * stages
            each *= base.batch if "batch" in request.fixed else 1
            each *= base.accumulation // stages if "accumulation" in request.fixed else 1
            if each:
                found.add(-(-wanted // each) * each)
    return tuple(sorted(found))
